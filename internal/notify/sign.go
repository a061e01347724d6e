package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// Sign is the value of the webhook-signature header (Standard Webhooks, scheme v1): HMAC-SHA256 over
// "id.timestamp.body". A secret that begins with whsec_ holds its key in base64; any other is the key
// itself.
func Sign(secret, id, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, key(secret))
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func key(secret string) []byte {
	if text, ok := strings.CutPrefix(secret, "whsec_"); ok {
		if k, err := base64.StdEncoding.DecodeString(text); err == nil {
			return k
		}
	}
	return []byte(secret)
}
