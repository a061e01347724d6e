package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-playground/validator/v10"
)

// foreign are the rules that look beyond the value they judge: at other fields of a struct, which
// there is none of, or at disk and network.
var foreign = map[string]string{
	"structonly": "is about structs", "nostructlevel": "is about structs", "validateFn": "is about structs",
	"file": "reads the disk", "dir": "reads the disk", "image": "reads the disk", "uds_exists": "reads the disk",
	"filepath": "reads the disk", "dirpath": "reads the disk",
	"tcp_addr": "asks the network", "tcp4_addr": "asks the network", "tcp6_addr": "asks the network",
	"udp_addr": "asks the network", "udp4_addr": "asks the network", "udp6_addr": "asks the network",
	"ip_addr": "asks the network", "ip4_addr": "asks the network", "ip6_addr": "asks the network",
	"unix_addr": "asks the network", "postcode_iso3166_alpha2_field": "is about another field",
}

var foreignPrefixes = []string{"required_", "excluded_", "skip_unless", "eqfield", "nefield", "gtfield", "gtefield",
	"ltfield", "ltefield", "eqcs", "necs", "gtcs", "gtecs", "ltcs", "ltecs", "fieldcontains", "fieldexcludes"}

// CheckRules tries validator tags out, each on a text, a number, a checkbox and a list: validator
// panics on an unknown tag or a bad parameter only when it meets a value.
func CheckRules(tags string) error {
	if tags == "" {
		return nil
	}
	judge := validator.New(validator.WithRequiredStructEnabled())
	for part := range strings.SplitSeq(tags, ",") {
		if err := checkRule(judge, part); err != nil {
			return err
		}
	}
	if err := tryRule(judge, tags); err != nil {
		return fmt.Errorf("%q: %w", tags, err)
	}
	return nil
}

func checkRule(judge *validator.Validate, part string) error {
	for alternative := range strings.SplitSeq(part, "|") {
		name, _, _ := strings.Cut(alternative, "=")
		if why, ok := foreign[name]; ok {
			return fmt.Errorf("%q %s, which rules cannot do here", name, why)
		}
		for _, prefix := range foreignPrefixes {
			if strings.HasPrefix(name, prefix) {
				return fmt.Errorf("%q is about another field, which rules cannot see here", name)
			}
		}
	}
	switch part {
	case "dive", "keys", "endkeys", "omitempty", "omitnil", "omitzero":
		return nil
	}
	if err := tryRule(judge, part); err != nil {
		return fmt.Errorf("%q: %w", part, err)
	}
	return nil
}

// tryRule fails when the tags suit no kind of value at all.
func tryRule(judge *validator.Validate, tags string) error {
	whole, part := int64(1), 1.5
	var first error
	for _, sample := range []any{"text", &whole, &part, new(bool), []string{"text"}} {
		err := try(judge, sample, tags)
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func try(judge *validator.Validate, sample any, tags string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = wordPanic(fmt.Sprint(p))
		}
	}()
	_ = judge.Var(sample, tags) // whether the sample passes is not the question
	return nil
}

func wordPanic(text string) error {
	switch {
	case strings.HasPrefix(text, "Undefined validation"), strings.HasPrefix(text, "Invalid validation tag"):
		return errors.New("there is no such rule; see the tags of validator v10, written without blanks")
	case strings.HasPrefix(text, "strconv."):
		return errors.New("its parameter is not a number")
	}
	return errors.New(text)
}
