package formula

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenText
	tokenNumber
	tokenName  // bare word: a field, or a function when a parenthesis follows at once
	tokenField // {braced name}
	tokenSymbol
)

type token struct {
	kind   tokenKind
	text   string // decoded
	offset int
	end    int
}

func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the formula"
	case tokenText:
		return "a text literal"
	case tokenField:
		return "field {" + clip(t.text) + "}"
	default:
		return "'" + clip(t.text) + "'"
	}
}

// clip keeps error messages short and valid UTF-8, whatever the formula holds.
func clip(s string) string {
	const most = 40
	s = strings.ToValidUTF8(s, "\uFFFD")
	runes := []rune(s[:min(len(s), most*utf8.UTFMax)])
	if len(runes) <= most {
		return string(runes)
	}
	return string(runes[:most]) + "…"
}

type lexer struct {
	src     string
	pos     int
	options Options
}

func (l *lexer) next() (token, *SyntaxError) {
	l.skipSpace()
	if l.pos >= len(l.src) {
		return token{kind: tokenEnd, offset: l.pos, end: l.pos}, nil
	}
	switch c := l.src[l.pos]; {
	case c == '\'' || c == '"':
		return l.literal(c)
	case c == '{':
		return l.field()
	case isDigit(c), c == '.' && l.pos+1 < len(l.src) && isDigit(l.src[l.pos+1]):
		return l.number()
	case c == '!' || c == '<' || c == '>':
		return l.comparison(c)
	case strings.IndexByte("+-*/&=(),", c) >= 0:
		l.pos++
		return l.token(tokenSymbol, string(c), l.pos-1), nil
	}
	return l.name()
}

func (l *lexer) token(kind tokenKind, text string, start int) token {
	return token{kind: kind, text: text, offset: start, end: l.pos}
}

func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if !unicode.IsSpace(r) {
			return
		}
		l.pos += size
	}
}

// literal reads a quoted text. A backslash escapes the character after it; \n, \r and \t mean control characters.
func (l *lexer) literal(quote byte) (token, *SyntaxError) {
	start := l.pos
	var text strings.Builder
	for l.pos++; l.pos < len(l.src); l.pos++ {
		c := l.src[l.pos]
		switch {
		case c == quote:
			l.pos++
			return l.token(tokenText, text.String(), start), nil
		case c == '\\' && l.pos+1 < len(l.src):
			l.pos++
			text.WriteByte(unescape(l.src[l.pos]))
		case (c == '\n' || c == '\r') && !l.options.NewlineInLiteral:
			return token{}, syntaxErrorf(l.pos, "line break in a text literal; write \\n")
		default:
			text.WriteByte(c)
		}
	}
	return token{}, syntaxErrorf(start, "text literal has no closing %c", quote)
}

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// field reads {a name}. Only \} is an escape, and Airtable cannot take more than one of them in a name.
func (l *lexer) field() (token, *SyntaxError) {
	start, escapes := l.pos, 0
	var name strings.Builder
	for l.pos++; l.pos < len(l.src); l.pos++ {
		c := l.src[l.pos]
		switch {
		case c == '\\' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '}':
			l.pos++
			if escapes++; escapes > 1 {
				return token{}, syntaxErrorf(l.pos, "field name has more than one closing brace; use its field ID")
			}
			name.WriteByte('}')
		case c == '}':
			l.pos++
			if strings.TrimSpace(name.String()) == "" {
				return token{}, syntaxErrorf(start, "field name is empty")
			}
			return l.token(tokenField, name.String(), start), nil
		default:
			name.WriteByte(c)
		}
	}
	return token{}, syntaxErrorf(start, "field name has no closing brace")
}

func (l *lexer) number() (token, *SyntaxError) {
	start := l.pos
	l.digits()
	if l.pos < len(l.src) && l.src[l.pos] == '.' {
		l.pos++
		l.digits()
	}
	return l.token(tokenNumber, l.src[start:l.pos], start), nil
}

func (l *lexer) digits() {
	for l.pos < len(l.src) && isDigit(l.src[l.pos]) {
		l.pos++
	}
}

func (l *lexer) comparison(c byte) (token, *SyntaxError) {
	start := l.pos
	l.pos++
	if l.pos < len(l.src) && l.src[l.pos] == '=' {
		l.pos++
	} else if c == '!' {
		return token{}, syntaxErrorf(start, "'!' without '='; use NOT()")
	}
	return l.token(tokenSymbol, l.src[start:l.pos], start), nil
}

func (l *lexer) name() (token, *SyntaxError) {
	start := l.pos
	for l.pos < len(l.src) {
		r, size := utf8.DecodeRuneInString(l.src[l.pos:])
		if !isNameRune(r, size) {
			break
		}
		l.pos += size
	}
	if l.pos == start {
		r, _ := utf8.DecodeRuneInString(l.src[start:])
		return token{}, syntaxErrorf(start, "unexpected character %q", r)
	}
	return l.token(tokenName, l.src[start:l.pos], start), nil
}

func isNameRune(r rune, size int) bool {
	if r == utf8.RuneError && size == 1 {
		return false
	}
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
