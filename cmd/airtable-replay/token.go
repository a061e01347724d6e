package main

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"airtable-replay/internal/app"
	"airtable-replay/internal/httpapi"
)

// tokenCommand is about the tokens of the API.
type tokenCommand struct {
	Create tokenCreateCommand `cmd:"" help:"Make a token and print its secret, once."`
	List   tokenListCommand   `cmd:"" help:"List all tokens, the newest first, without their secrets."`
	Revoke tokenRevokeCommand `cmd:"" help:"End a token at once."`
}

// secretPrefix tells people, and scanners for leaked secrets, what a secret is for.
const secretPrefix = "replay_"

// newSecret makes a secret of more than 256 random bits.
func newSecret() string { return secretPrefix + rand.Text() + rand.Text() }

// maxTokenName bounds the name of a token, in bytes.
const maxTokenName = 100

type tokenCreateCommand struct {
	connected
	Name  string   `arg:"" help:"Who the token is for; shown in logs and in the history of entries."`
	Scope []string `required:"" sep:"," placeholder:"SCOPE" help:"What the token may do: read, write, replay, admin."`
}

// Help shows how the command is used.
func (tokenCreateCommand) Help() string {
	return `The secret goes to standard output, alone; only its hash is stored, so it cannot be shown again.

The scopes: read (all GETs), write (entries, writes, validate), replay (presses, previews, runs, reviews), admin (everything).

Examples:

	airtable-replay token create pipeline --scope read,write
	BUTTON_TOKEN=$(airtable-replay token create button --scope replay)`
}

// Validate refuses unknown scopes and names that a table could not show.
func (c *tokenCreateCommand) Validate() error {
	errs := []error{c.validate()}
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" || len(c.Name) > maxTokenName || strings.ContainsFunc(c.Name, unicode.IsControl) {
		errs = append(errs, fmt.Errorf("the name must have 1 to %d bytes and no control characters", maxTokenName))
	}
	for _, scope := range c.Scope {
		if !slices.Contains(httpapi.Scopes(), scope) {
			errs = append(errs, fmt.Errorf("--scope: %q is none of %s", scope, strings.Join(httpapi.Scopes(), ", ")))
		}
	}
	slices.Sort(c.Scope)
	c.Scope = slices.Compact(c.Scope)
	return errors.Join(errs...)
}

// Run implements the command. Only the secret goes to standard output, so that a script can take it.
func (c *tokenCreateCommand) Run(p *process) error {
	db, err := app.OpenMigrated(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	secret := newSecret()
	token, err := db.Store().CreateToken(p.ctx, c.Name, c.Scope, sha256.Sum256([]byte(secret)))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(p.stdout, secret); err != nil {
		// Nobody has seen the secret, so the token is of no use.
		return errors.Join(fmt.Errorf("print secret: %w", err), db.Store().RevokeToken(p.ctx, c.Name))
	}
	p.logger.Info("token created; its secret is shown this once", "name", token.Name, "scopes", token.Scopes)
	return nil
}

type tokenListCommand struct{ connected }

// Help shows how the command is used.
func (tokenListCommand) Help() string {
	return `Example:

	airtable-replay token list`
}

// Validate refuses a call without a database.
func (c *tokenListCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *tokenListCommand) Run(p *process) error {
	db, err := app.OpenMigrated(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	tokens, err := db.Store().ListTokens(p.ctx)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tSCOPES\tCREATED\tLAST USED\tREVOKED")
	for _, t := range tokens {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", t.Name, strings.Join(t.Scopes, ","), instant(t.CreatedAt), instant(t.LastUsed), instant(t.Revoked))
	}
	return table.Flush()
}

func instant(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

type tokenRevokeCommand struct {
	connected
	Name string `arg:"" help:"The token's name."`
}

// Help shows how the command is used.
func (tokenRevokeCommand) Help() string {
	return `Requests with the token are refused from now on; its name is free for another one.

Example:

	airtable-replay token revoke pipeline`
}

// Validate refuses a call without a database.
func (c *tokenRevokeCommand) Validate() error { return c.validate() }

// Run implements the command.
func (c *tokenRevokeCommand) Run(p *process) error {
	db, err := app.OpenMigrated(p.ctx, c.DatabaseURL)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Store().RevokeToken(p.ctx, c.Name); err != nil {
		return err
	}
	p.logger.Info("token revoked", "name", c.Name)
	return nil
}
