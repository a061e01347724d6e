package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// checker holds the parts of a decoded file against each other.
type checker struct {
	*reader
	file *File
}

func (c *checker) check() {
	c.checkBases()
	c.checkNotify()
	c.checkReplay()
	c.checkDeadLetters()
	c.checkTargets()
	c.checkCycles()
	c.checkSources()
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)
	baseID    = regexp.MustCompile(`^app[A-Za-z0-9]+$`)
)

func (c *checker) checkBases() {
	if c.file.Bases != nil && len(c.file.Bases) == 0 {
		c.fault(keyPath{"bases"}, "names no base")
	}
	byID := map[string]string{}
	for _, name := range sortedKeys(c.file.Bases) {
		b, at := c.file.Bases[name], keyPath{"bases", name}
		if !plainName.MatchString(name) {
			c.fault(at, "a base's name stands in addresses: use letters, digits, dots, dashes and underscores")
		}
		if b.ID != "" && !baseID.MatchString(b.ID) {
			c.fault(at.sub("id"), "is not a base ID; it begins with app and stands in the base's address")
		}
		if first, ok := byID[b.ID]; ok && b.ID != "" {
			c.fault(at.sub("id"), "is the ID of the base %s already; two leases on one base would not be serial", first)
		} else {
			byID[b.ID] = name
		}
		c.checkURL(at.sub("api_url"), &b.APIURL)
		c.checkPace(at.sub("requests_per_second"), b)
		for _, endpoint := range b.Alert {
			if c.file.Notify[endpoint] == nil {
				c.fault(at.sub("alert"), "%q is not under notify", endpoint)
			}
		}
		c.checkRetry(at.sub("retry"), b)
	}
}

func (c *checker) checkPace(at keyPath, b *Base) {
	switch {
	case !(b.RequestsPerSecond > 0):
		c.fault(at, "has to be above 0")
	case b.RequestsPerSecond > 5 && b.APIURL == AirtableURL:
		c.fault(at, "Airtable takes at most 5 requests/s to a base; write 4, to leave some to others")
	case b.RequestsPerSecond > 10_000:
		c.fault(at, "is at most 10000")
	}
}

func (c *checker) checkRetry(at keyPath, b *Base) {
	if n := b.Retry.Attempts; n < 1 || n > 20 {
		c.fault(at.sub("attempts"), "%d is out of range: from 1 to 20", n)
	}
	c.within(at.sub("base_delay"), b.Retry.BaseDelay, time.Millisecond, 5*time.Minute)
	c.within(at.sub("request_timeout"), b.Retry.RequestTimeout, 10*time.Millisecond, 2*time.Minute)
	c.within(at.sub("landing_bound"), b.Retry.LandingBound, 0, time.Hour)
	least := time.Millisecond
	if b.APIURL == AirtableURL {
		least = 30 * time.Second // mission W3
	}
	c.within(at.sub("rate_limit_wait"), b.Retry.RateLimitWait, least, 10*time.Minute)
}

func (c *checker) within(at keyPath, d, least, most time.Duration) {
	if d < least || d > most {
		c.fault(at, "%v is out of range: from %v to %v", d, least, most)
	}
}

func (c *checker) checkNotify() {
	for _, name := range sortedKeys(c.file.Notify) {
		e, at := c.file.Notify[name], keyPath{"notify", name}
		c.checkURL(at.sub("url"), &e.URL)
		if e.On != nil && len(e.On) == 0 {
			c.fault(at.sub("on"), "names no event; known are %s", strings.Join(Events(), ", "))
		}
		for i, event := range e.On {
			if !slices.Contains(Events(), event) {
				c.fault(at.sub("on"), "%q is not an event; known are %s", event, strings.Join(Events(), ", "))
			} else if slices.Index(e.On, event) < i {
				c.fault(at.sub("on"), "names %s twice", event)
			}
		}
	}
}

func (c *checker) checkReplay() {
	r, at := c.file.Replay, keyPath{"replay"}
	c.within(at.sub("stuck_after"), r.StuckAfter, time.Second, 24*time.Hour)
	c.within(at.sub("sweep_every"), r.SweepEvery, 100*time.Millisecond, time.Minute)
	c.within(at.sub("recovery_tick"), r.RecoveryTick, 10*time.Millisecond, time.Minute)
	if r.AttemptCap < 1 {
		c.fault(at.sub("attempt_cap"), "is at least 1")
	}
	if r.Lease == 0 {
		return
	}
	for _, name := range sortedKeys(c.file.Bases) {
		least := c.file.Bases[name].Retry.RequestTimeout + 10*time.Second
		if r.Lease < least {
			c.fault(at.sub("lease"), "is at least %v, the request timeout of base %s and 10s; leave it out to have it derived", least, name)
		}
	}
}

func (c *checker) checkDeadLetters() {
	d := c.file.DeadLetters
	if d == nil || d.Base == "" {
		return
	}
	at := keyPath{"dead_letters"}
	c.checkURL(at.sub("notification_url"), &d.NotificationURL)
	if c.file.Bases[d.Base] == nil {
		c.fault(at.sub("base"), "%q is not under bases", d.Base)
	}
	for _, name := range sortedKeys(c.file.Targets) {
		if t := c.file.Targets[name]; t.Base == d.Base && t.Table == d.Table {
			c.fault(at.sub("table"), "is the table of the target %s; dead letters need a table of their own", name)
		}
	}
}

// checkURL checks an address and takes the slash off its end.
func (c *checker) checkURL(at keyPath, address *string) {
	if *address == "" {
		return
	}
	u, err := url.Parse(*address)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		c.fault(at, "is not an http or https address")
	case u.User != nil:
		c.fault(at, "holds a user or password; a secret does not stand in the file")
	case u.Fragment != "":
		c.fault(at, "holds a fragment (#…), which is never sent")
	}
	*address = strings.TrimSuffix(*address, "/")
}
