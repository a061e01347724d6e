package httpapi

import (
	"context"
	"net/http"

	"airtable-replay/internal/httpapi/internal/oapi"
)

// HearNotification implements POST /v1/airtable/notifications.
func (s *server) HearNotification(ctx context.Context, r oapi.HearNotificationRequestObject) (oapi.HearNotificationResponseObject, error) {
	if s.Pings == nil {
		return nil, &refusal{
			status: http.StatusNotFound, problem: "not-found",
			detail: "no webhook is configured: set notification_url under dead_letters",
		}
	}
	if err := s.Pings.HearPing(ctx, exchangeOf(ctx).body, val(r.Params.XAirtableContentMAC)); err != nil {
		return nil, err
	}
	return oapi.HearNotification204Response{}, nil
}
