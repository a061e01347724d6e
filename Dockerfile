FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=unknown
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w -X main.release=$VERSION" -o /airtable-replay ./cmd/airtable-replay

# Nothing but the program, the certificates that it trusts, and a wget that
# health checks can run.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=busybox:1.37.0-musl /bin/wget /bin/wget
COPY --from=build /airtable-replay /airtable-replay
USER 65532:65532
ENV AIRTABLE_REPLAY_LISTEN=0.0.0.0:8080 LOG_FORMAT=json
EXPOSE 8080
ENTRYPOINT ["/airtable-replay"]
CMD ["serve"]
