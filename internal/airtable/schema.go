package airtable

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Table is one table of a base's schema.
type Table struct {
	ID             string  `json:"id"`
	Name           string  `json:"name"`
	PrimaryFieldID string  `json:"primaryFieldId"`
	Fields         []Field `json:"fields"`
}

// Field is one field of a table. Type is Airtable's string: "singleLineText".
type Field struct {
	ID          string       `json:"id,omitempty"`
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Description string       `json:"description,omitempty"`
	Options     FieldOptions `json:"options,omitzero"`
}

// FieldOptions are the options of every field type in one struct; each type
// fills its own. What this service has no use for is not decoded.
type FieldOptions struct {
	// Choices of singleSelect and multipleSelects.
	Choices []Choice `json:"choices,omitempty"`
	// LinkedTableID and InverseLinkFieldID of multipleRecordLinks.
	LinkedTableID      string `json:"linkedTableId,omitempty"`
	InverseLinkFieldID string `json:"inverseLinkFieldId,omitempty"`
	// PrefersSingleRecordLink is for people; the API does not enforce it.
	PrefersSingleRecordLink bool `json:"prefersSingleRecordLink,omitempty"`
	// ReferencedFieldIDs a lastModifiedTime watches; empty: every editable field.
	ReferencedFieldIDs []string `json:"referencedFieldIds,omitempty"`
	// IsValid is false where a computed field lost what it is computed from.
	IsValid *bool `json:"isValid,omitempty"`
	// RecordLinkFieldID and FieldIDInLinkedTable of lookups and rollups.
	RecordLinkFieldID    string `json:"recordLinkFieldId,omitempty"`
	FieldIDInLinkedTable string `json:"fieldIdInLinkedTable,omitempty"`
	// Result of a computed field: nil where it has none.
	Result *FieldResult `json:"result,omitempty"`
	// Precision is the number of decimals shown of number, currency and percent.
	Precision *int `json:"precision,omitempty"`
	// Max of a rating.
	Max int `json:"max,omitempty"`
	// Icon and Color of checkbox and rating.
	Icon  string `json:"icon,omitempty"`
	Color string `json:"color,omitempty"`
	// Symbol of a currency.
	Symbol string `json:"symbol,omitempty"`
	// DateFormat, TimeFormat and TimeZone of date and dateTime.
	DateFormat *Format `json:"dateFormat,omitempty"`
	TimeFormat *Format `json:"timeFormat,omitempty"`
	TimeZone   string  `json:"timeZone,omitempty"`
	// DurationFormat of a duration: "h:mm:ss".
	DurationFormat string `json:"durationFormat,omitempty"`
}

// Choice is one option of a select field.
type Choice struct {
	ID    string `json:"id,omitempty"`
	Name  string `json:"name"`
	Color string `json:"color,omitempty"`
}

// FieldResult is the type that a computed field results in.
type FieldResult struct {
	Type    string       `json:"type"`
	Options FieldOptions `json:"options,omitzero"`
}

// Format is a date or time format: Name "iso", Format "YYYY-MM-DD".
type Format struct {
	Name   string `json:"name"`
	Format string `json:"format,omitempty"`
}

// FieldChange renames or describes a field; empty strings change nothing.
type FieldChange struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
}

// Identity is whom a token acts as. Email and Scopes are empty where Airtable
// does not tell them to this token.
type Identity struct {
	ID     string   `json:"id"`
	Email  string   `json:"email"`
	Scopes []string `json:"scopes"`
}

// Schema reads all tables of a base (scope schema.bases:read).
func (c *Client) Schema(ctx context.Context, base string) ([]Table, error) {
	const op = "read schema"
	if base == "" {
		return nil, invalid(op, errors.New("no base named"))
	}
	var answer struct {
		Tables []Table `json:"tables"`
	}
	err := c.send(ctx, call{
		op: op, method: http.MethodGet, base: base,
		url:    c.endpoint("meta", "bases", base, "tables"),
		answer: &answer,
		check: func() error {
			if answer.Tables == nil {
				return errors.New("no list of tables in it")
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	return answer.Tables, nil
}

// CreateField adds a field to a table (scope schema.bases:write) and returns it
// with its ID. Airtable creates no computed fields this way: formulas, created
// and last modified times have to be added by hand.
func (c *Client) CreateField(ctx context.Context, base, tableID string, field Field) (Field, error) {
	in := call{op: "create field", method: http.MethodPost, base: base, table: tableID}
	if field.ID != "" || field.Name == "" || field.Type == "" {
		return Field{}, invalid(in.op, fmt.Errorf("field %q of type %q: give name and type, and no ID", field.Name, field.Type))
	}
	in.url = c.endpoint("meta", "bases", base, "tables", tableID, "fields")
	return c.sendField(ctx, in, field)
}

// UpdateField changes a field's name or description (scope schema.bases:write).
func (c *Client) UpdateField(ctx context.Context, base, tableID, fieldID string, change FieldChange) (Field, error) {
	in := call{op: "update field", method: http.MethodPatch, base: base, table: tableID}
	if fieldID == "" || change == (FieldChange{}) {
		return Field{}, invalid(in.op, fmt.Errorf("field %q: name the field by ID and what to change", fieldID))
	}
	in.url = c.endpoint("meta", "bases", base, "tables", tableID, "fields", fieldID)
	return c.sendField(ctx, in, change)
}

func (c *Client) sendField(ctx context.Context, in call, body any) (Field, error) {
	if err := validTable(in.base, in.table); err != nil {
		return Field{}, invalid(in.op, err)
	}
	var err error
	if in.body, err = encode(body); err != nil {
		return Field{}, invalid(in.op, err)
	}
	var answer Field
	in.answer = &answer
	in.check = func() error {
		if answer.ID == "" {
			return errors.New("no field in it")
		}
		return nil
	}
	if err := c.send(ctx, in); err != nil {
		return Field{}, err
	}
	return answer, nil
}

// WhoAmI asks whom the token acts as. Any valid token may.
func (c *Client) WhoAmI(ctx context.Context) (Identity, error) {
	var answer Identity
	err := c.send(ctx, call{
		op: "read identity", method: http.MethodGet,
		url:    c.endpoint("meta", "whoami"),
		answer: &answer,
		check: func() error {
			if answer.ID == "" {
				return errors.New("no user in it")
			}
			return nil
		},
	})
	if err != nil {
		return Identity{}, err
	}
	return answer, nil
}
