package airtable

import (
	"context"
	"errors"
	"net/http"
	"time"
)

// HookState is a webhook as Airtable lists it.
type HookState struct {
	ID        string    `json:"id"`
	URL       string    `json:"notificationUrl"`
	ExpiresAt time.Time `json:"expirationTime"`
	// Enabled is false once it has expired or cannot record any more.
	Enabled bool `json:"isHookEnabled"`
	// Notifying is false once Airtable has given up to ping it; what it records can still be read.
	Notifying bool `json:"areNotificationsEnabled"`
	// LastPing is nil before the first one.
	LastPing *struct {
		Success bool `json:"success"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"lastNotificationResult"`
}

// ListHooks lists the webhooks of a base that the token may see (scope webhook:manage, role creator).
func (c *Client) ListHooks(ctx context.Context, base string) ([]HookState, error) {
	var answer struct {
		Webhooks []HookState `json:"webhooks"`
	}
	err := c.send(ctx, call{
		op: "list webhooks", method: http.MethodGet, base: base, url: c.endpoint("bases", base, "webhooks"), answer: &answer,
		check: func() error {
			if answer.Webhooks == nil {
				return errors.New("no list of webhooks in it")
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return answer.Webhooks, nil
}
