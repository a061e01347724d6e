package deadletter

import (
	"errors"
	"strconv"
	"strings"
)

// Bounds of a number's text. They keep a hostile literal such as 1e999999999 from costing time or
// memory; no sequence number or double comes near them.
const (
	maxNumberLength   = 512
	maxNumberDigits   = 256 // significant ones
	maxNumberExponent = 1000
	maxPadding        = 20 // zeros that are written out before the form with an exponent is shorter
)

var (
	errNotNumber  = errors.New("is not a number")
	errNumberSize = errors.New("is too long a number: at most 256 digits and an exponent within 1000")
)

// decimal is an exact number: ±0.digits × 10^point, without leading or trailing zeros in digits, so
// that equal numbers are equal structs. Nothing is ever expanded to compare it.
type decimal struct {
	negative bool
	digits   string // empty: zero
	point    int
}

// parseDecimal reads a JSON number; a leading plus sign and leading zeros are allowed beyond that,
// since text cells hold them.
func parseDecimal(s string) (decimal, error) {
	if len(s) > maxNumberLength {
		return decimal{}, errNumberSize
	}
	rest := s
	negative := strings.HasPrefix(rest, "-")
	if negative || strings.HasPrefix(rest, "+") {
		rest = rest[1:]
	}
	whole, rest := leadingDigits(rest)
	if whole == "" {
		return decimal{}, errNotNumber
	}
	var fraction string
	if strings.HasPrefix(rest, ".") {
		if fraction, rest = leadingDigits(rest[1:]); fraction == "" {
			return decimal{}, errNotNumber
		}
	}
	exponent, err := parseExponent(rest)
	if err != nil {
		return decimal{}, err
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return decimal{}, nil
	}
	d := decimal{negative: negative, digits: strings.TrimRight(digits, "0"), point: len(digits) - len(fraction) + exponent}
	if len(d.digits) > maxNumberDigits || max(d.point-1, 1-d.point) > maxNumberExponent {
		return decimal{}, errNumberSize
	}
	return d, nil
}

func parseExponent(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	if s[0] != 'e' && s[0] != 'E' {
		return 0, errNotNumber
	}
	s = s[1:]
	sign := 1
	if strings.HasPrefix(s, "-") {
		sign = -1
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		s = s[1:]
	}
	digits, rest := leadingDigits(s)
	if digits == "" || rest != "" {
		return 0, errNotNumber
	}
	exponent := 0
	for _, c := range strings.TrimLeft(digits, "0") {
		if exponent = exponent*10 + int(c-'0'); exponent > maxNumberExponent+maxNumberLength {
			return 0, errNumberSize
		}
	}
	return sign * exponent, nil
}

func leadingDigits(s string) (digits, rest string) {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return s[:n], s[n:]
}

func (d decimal) compare(e decimal) int {
	if c := d.sign() - e.sign(); c != 0 {
		return c
	}
	c := d.point - e.point
	if c == 0 {
		c = strings.Compare(d.digits, e.digits)
	}
	if d.negative {
		return -c
	}
	return c
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}

func (d decimal) isInteger() bool { return d.point >= len(d.digits) }

// String is the number as JSON writes it: plain digits, or an exponent where many zeros would follow.
func (d decimal) String() string {
	if d.digits == "" {
		return "0"
	}
	text := d.magnitude()
	if d.negative {
		return "-" + text
	}
	return text
}

func (d decimal) magnitude() string {
	n := len(d.digits)
	switch {
	case d.point-n > maxPadding || -d.point > maxPadding:
		text := d.digits[:1]
		if n > 1 {
			text += "." + d.digits[1:]
		}
		return text + "e" + strconv.Itoa(d.point-1)
	case d.point >= n:
		return d.digits + strings.Repeat("0", d.point-n)
	case d.point > 0:
		return d.digits[:d.point] + "." + d.digits[d.point:]
	}
	return "0." + strings.Repeat("0", -d.point) + d.digits
}
