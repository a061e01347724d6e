package airtable

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Hook is a webhook of a base. Airtable shows its secret only to whoever creates it.
type Hook struct {
	ID        string
	Secret    []byte    // signs the pings (HMAC-SHA256 of the raw body)
	ExpiresAt time.Time // seven days ahead; each listing of payloads puts it off again
}

// HookSpec says which changes of one table a webhook records. All are IDs.
type HookSpec struct {
	URL     string   // that is pinged
	Table   string   // tbl…
	Watch   []string // fields of which a change counts
	Include []string // fields whose values come along
	Sources []string // of a change: client, automation, …
}

// CreateHook makes a webhook (scope webhook:manage, role creator).
func (c *Client) CreateHook(ctx context.Context, base string, spec HookSpec) (Hook, error) {
	in := call{op: "create webhook", method: http.MethodPost, base: base, url: c.endpoint("bases", base, "webhooks")}
	body, err := encode(map[string]any{"notificationUrl": spec.URL, "specification": map[string]any{"options": map[string]any{
		"filters": map[string]any{
			"dataTypes": []string{"tableData"}, "recordChangeScope": spec.Table, "changeTypes": []string{"add", "update"},
			"fromSources": spec.Sources, "watchDataInFieldIds": spec.Watch,
		},
		"includes": map[string]any{"includePreviousCellValues": true, "includeCellValuesInFieldIds": spec.Include},
	}}})
	if err != nil {
		return Hook{}, invalid(in.op, err)
	}
	in.body = body
	var answer struct {
		ID             string    `json:"id"`
		Secret         string    `json:"macSecretBase64"`
		ExpirationTime time.Time `json:"expirationTime"`
	}
	var secret []byte
	in.answer = &answer
	in.check = func() (err error) {
		if secret, err = base64.StdEncoding.DecodeString(answer.Secret); err != nil || len(secret) == 0 || answer.ID == "" {
			return errors.New("no ID or no secret in it")
		}
		return nil
	}
	if err := c.send(ctx, in); err != nil {
		return Hook{}, err
	}
	return Hook{ID: answer.ID, Secret: secret, ExpiresAt: answer.ExpirationTime}, nil
}

// DeleteHook removes a webhook.
func (c *Client) DeleteHook(ctx context.Context, base, id string) error {
	var nothing any // the answer says nothing more
	return c.send(ctx, call{op: "delete webhook", method: http.MethodDelete, base: base, url: c.endpoint("bases", base, "webhooks", id), answer: &nothing})
}

// HookPage is a page of what a webhook recorded, the oldest first.
type HookPage struct {
	Payloads []HookPayload `json:"payloads"`
	Cursor   int           `json:"cursor"` // of the next page
	More     bool          `json:"mightHaveMore"`
}

// HookPayload is one transaction of a base, as far as a webhook watches it.
type HookPayload struct {
	Transaction int64 `json:"baseTransactionNumber"`
	Action      struct {
		Source   string `json:"source"`
		Metadata struct {
			User struct {
				ID    string `json:"id"`
				Email string `json:"email"`
				Name  string `json:"name"`
			} `json:"user"`
		} `json:"sourceMetadata"`
	} `json:"actionMetadata"`
	Tables map[string]struct {
		Changed map[string]HookChange  `json:"changedRecordsById"`
		Created map[string]HookCreated `json:"createdRecordsById"`
	} `json:"changedTablesById"`
}

// HookChange is one record that changed; values are by field ID, an empty cell is null or missing.
type HookChange struct {
	Current   HookCells `json:"current"`
	Previous  HookCells `json:"previous"`
	Unchanged HookCells `json:"unchanged"`
}

// HookCells are cells by field ID.
type HookCells struct {
	Values map[string]any `json:"cellValuesByFieldId"`
}

// HookCreated is one record that was created.
type HookCreated struct {
	Values map[string]any `json:"cellValuesByFieldId"`
}

// ListHookPayloads reads what a webhook recorded from a cursor on; the first is 1.
func (c *Client) ListHookPayloads(ctx context.Context, base, id string, cursor int) (HookPage, error) {
	in := call{op: "list webhook payloads", method: http.MethodGet, base: base}
	if cursor < 1 {
		return HookPage{}, invalid(in.op, fmt.Errorf("cursor %d is not 1 or more", cursor))
	}
	in.url = c.endpoint("bases", base, "webhooks", id, "payloads") + "?" + url.Values{"cursor": {strconv.Itoa(cursor)}}.Encode()
	var page HookPage
	in.answer = &page
	in.check = func() error {
		if page.Cursor < cursor {
			return errors.New("its cursor goes back")
		}
		return nil
	}
	if err := c.send(ctx, in); err != nil {
		return HookPage{}, err
	}
	return page, nil
}
