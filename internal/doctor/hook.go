package doctor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"airtable-replay/internal/airtable"
	"airtable-replay/internal/config"
)

// scopeHook is needed where presses are told by a webhook of Airtable's.
const scopeHook = "webhook:manage"

// scopes lists those that the base's token needs.
func (c *check) scopes(b *config.Base) []string {
	all := []string{scopeRead, scopeWrite, scopeSchema}
	if c.hooked(b) {
		all = append(all, scopeHook)
	}
	return all
}

// hooked tells whether presses in the base are told by a webhook of Airtable's (mission T3).
func (c *check) hooked(b *config.Base) bool {
	d := c.File.DeadLetters
	return d != nil && d.Base == b.Name && d.NotificationURL != ""
}

// checkHook looks at the webhook that tells of presses.
func (c *check) checkHook(ctx context.Context, l *line) {
	if !c.hooked(l.base) {
		return
	}
	d := c.File.DeadLetters
	subject, before := d.Table+": webhook", len(c.list)
	if u, err := url.Parse(d.NotificationURL); err == nil && (loopback(u.Hostname()) || u.Scheme != "https") && !loopbackURL(l.base.APIURL) {
		c.add(AreaDeadLetters, subject, Fault, "Airtable cannot call "+u.Redacted(), "give dead_letters.notification_url an https address that is reachable from outside")
	}
	var hooks []airtable.HookState
	err := l.wait(ctx)
	if err == nil {
		hooks, err = l.client.ListHooks(ctx, l.base.ID)
	}
	if refusal, ok := errors.AsType[*airtable.Error](err); ok && refusal.Status == http.StatusForbidden {
		if !slices.Contains(l.lacks, scopeHook) {
			c.add(AreaDeadLetters, subject, Fault, "the token may not manage webhooks",
				"give it the scope "+scopeHook+" and its user the creator's role; or take dead_letters.notification_url out and use the button's script")
		}
		return
	}
	if err != nil {
		c.refused(l.base, AreaDeadLetters, err)
		return
	}
	at := slices.IndexFunc(hooks, func(h airtable.HookState) bool { return h.URL == d.NotificationURL })
	if at < 0 {
		c.add(AreaDeadLetters, subject, Warning, "is not made yet", "start the service, which makes it; if it runs, its log says why it could not")
		return
	}
	c.checkPings(subject, hooks[at])
	c.wellSince(before, AreaDeadLetters, subject, "is alive until "+hooks[at].ExpiresAt.UTC().Format(time.RFC3339))
}

func loopbackURL(address string) bool {
	u, err := url.Parse(address)
	return err == nil && loopback(u.Hostname())
}

// checkPings tells of a webhook that does not work any more. Without pings the service still reads every
// ten minutes what was recorded.
func (c *check) checkPings(subject string, h airtable.HookState) {
	switch {
	case !h.Enabled:
		c.add(AreaDeadLetters, subject, Fault, "has lapsed, so presses are not recorded", "start the service, which makes it anew")
	case !h.Notifying:
		c.add(AreaDeadLetters, subject, Warning, "is not pinged any more, so a press takes up to ten minutes",
			"see that notification_url is reachable from outside, then delete the webhook in Airtable: the service makes it anew")
	case h.LastPing != nil && !h.LastPing.Success:
		c.add(AreaDeadLetters, subject, Warning, strings.TrimSpace(fmt.Sprintf("was pinged in vain the last time: %s", h.LastPing.Error.Message)),
			"see that notification_url is reachable from outside and leads to this service")
	}
}
