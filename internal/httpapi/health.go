package httpapi

import (
	"context"

	"airtable-replay/internal/deadletter"
	"airtable-replay/internal/httpapi/internal/oapi"
)

// CheckHealth implements GET /healthz.
func (s *server) CheckHealth(context.Context, oapi.CheckHealthRequestObject) (oapi.CheckHealthResponseObject, error) {
	return oapi.CheckHealth200JSONResponse{HealthJSONResponse: s.health()}, nil
}

// CheckReadiness implements GET /readyz.
func (s *server) CheckReadiness(ctx context.Context, _ oapi.CheckReadinessRequestObject) (oapi.CheckReadinessResponseObject, error) {
	err := s.Ready(ctx)
	if err != nil && deadletter.CodeOf(err) != deadletter.CodeUnavailable {
		err = &deadletter.Error{Code: deadletter.CodeUnavailable, Message: "the service cannot do its work now", Err: err}
	}
	return oapi.CheckReadiness200JSONResponse{HealthJSONResponse: s.health()}, err
}

func (s *server) health() oapi.HealthJSONResponse {
	return oapi.HealthJSONResponse{Status: oapi.HealthStatusOk, Version: s.Version}
}
