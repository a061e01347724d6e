package main

import (
	"context"
	"encoding/json"
	"fmt"

	"airtable-replay/api/client"
)

// The dead letters of the story, by what is special about each.
const (
	newerSent    = "newer sent"
	editedByHand = "edited by hand"
	clean        = "clean"
	elder        = "elder of two"
	younger      = "younger of two"
	pressedTwice = "pressed twice"
	missing      = "missing"
)

// letter is a write of the order system that failed on 2 October 2026.
type letter struct {
	name, order string
	meanwhile   string // what has happened since, for people
	at          string // the payload's version
	fields      map[string]any
}

// letters are all dead letters of the story, in the order of filing.
func letters() []letter {
	const morning, noon = "2026-10-02T08:00:00Z", "2026-10-02T12:00:00Z"
	shipped := map[string]any{"status": "Shipped", "delivery_date": "2026-10-05"}
	return []letter{
		{newerSent, "O-1", "the sender has sent Delivered", morning, shipped},
		{editedByHand, "O-2", "Delivery Date edited by hand", morning, shipped},
		{clean, "O-3", "nothing", morning, shipped},
		{elder, "O-4", "another entry of O-4 is open", morning, map[string]any{"status": "Pending", "note": "ring twice"}},
		{younger, "O-4", "another entry of O-4 is open", noon, map[string]any{"status": "Shipped"}},
		{pressedTwice, "O-5", "nothing", morning, shipped},
		{missing, "O-9", "the record does not exist", morning, shipped},
	}
}

// play is the story with its entries on file.
type play struct {
	client  *demoClient
	entries map[string]string // name of the letter to ID of the entry
	refusal *client.Problem   // the answer to the press that came second
}

// prepare files the dead letters, and lets happen what happened meanwhile: the sender delivers something
// newer for O-1, and Ben moves the delivery date of O-2.
func prepare(ctx context.Context, c *demoClient) (*play, error) {
	p := &play{client: c, entries: map[string]string{}}
	for _, l := range letters() {
		payload, err := orderPayload(l.order, l.at, l.fields)
		if err != nil {
			return nil, err
		}
		p.entries[l.name], err = c.file(ctx, client.Filing{
			SourceSystem: "order-system", RawPayload: new(string(payload)), ReasonCode: "transient_exhausted", FirstAttemptAt: "2026-10-02T13:00:00Z",
			StatusCode: new(503), Attempts: new(int32(5)), ErrorDetail: new("service unavailable"),
		})
		if err != nil {
			return nil, err
		}
	}
	newer, err := orderPayload("O-1", "2026-10-04T08:00:00Z", map[string]any{"status": "Delivered"})
	if err != nil {
		return nil, err
	}
	if err := c.send(ctx, "order-system", newer); err != nil {
		return nil, err
	}
	return p, p.editOrder(ctx, "O-2", map[string]any{"Delivery Date": "2026-10-09"})
}

func (p *play) editOrder(ctx context.Context, order string, fields map[string]any) error {
	r, found, err := p.client.find(ctx, "Orders", "Order ID", order)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("edit order: there is no %s", order)
	}
	return p.client.edit(ctx, "Orders", r.ID, "Ben", fields)
}

// orderPayload is what the order system sends.
func orderPayload(id, updatedAt string, fields map[string]any) (json.RawMessage, error) {
	order := map[string]any{"id": id}
	for name, value := range fields {
		order[name] = value
	}
	return json.Marshal(map[string]any{"updated_at": updatedAt, "order": order})
}
