package mirror

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"airtable-replay/internal/deadletter"
)

// macPrefix begins the header X-Airtable-Content-MAC.
const macPrefix = "hmac-sha256="

// HearPing takes a ping of Airtable's: body as it arrived, signature as X-Airtable-Content-MAC has it. It has
// the webhook read; what a ping says is not believed beyond that.
func (m *Mirror) HearPing(ctx context.Context, body []byte, signature string) error {
	var ping struct {
		Webhook struct {
			ID string `json:"id"`
		} `json:"webhook"`
	}
	if err := json.Unmarshal(body, &ping); err != nil {
		return unsigned()
	}
	h, ok, err := m.Store.FindHook(ctx, ping.Webhook.ID)
	if err != nil {
		return err
	}
	if !ok {
		return unsigned()
	}
	secret, err := m.unseal(h.Secret)
	if err != nil {
		return unsigned()
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	want := macPrefix + hex.EncodeToString(mac.Sum(nil))
	if !hmac.Equal([]byte(want), []byte(strings.TrimSpace(signature))) {
		return unsigned()
	}
	return m.Store.InTx(ctx, func(ctx context.Context) error {
		if err := m.Store.PingHook(ctx, h.ID); err != nil {
			return err
		}
		return m.Enqueue(ctx)
	})
}

func unsigned() error {
	return deadletter.Errorf(deadletter.CodeUnauthenticated, "", "this is no ping of a webhook of ours: X-Airtable-Content-MAC does not match the body")
}

// The secret of a webhook is kept sealed: whoever reads the database alone cannot sign a ping. The key comes
// from the base's token, which is not in the database.

func (m *Mirror) sealer() (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(m.Token.Reveal()), []byte(m.BaseID), "airtable-replay webhook secret", 32)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

func (m *Mirror) seal(secret []byte) ([]byte, error) {
	s, err := m.sealer()
	if err != nil {
		return nil, err
	}
	return s.Seal(nil, nil, secret, nil), nil
}

func (m *Mirror) unseal(sealed []byte) ([]byte, error) {
	s, err := m.sealer()
	if err != nil {
		return nil, err
	}
	secret, err := s.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, errors.New("the webhook's secret was sealed with another token")
	}
	return secret, nil
}
