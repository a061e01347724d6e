package apptest

// DefaultSeed is a small base of accounts, orders and order lines, with a dead letter table.
const DefaultSeed = `
bases:
  - id: appOrdersSandbox01
    name: Orders
    tokens: [patSandbox.full]
    tables:
      - name: Accounts
        primary: Account ID
        fields:
          - {name: Account ID, type: singleLineText}
          - {name: Name, type: singleLineText}
          - {name: Source Updated At, type: dateTime}
        records:
          - {_id: recAcc00000000001, Account ID: A-1, Name: Acme, Source Updated At: 2026-09-01T08:00:00Z}
      - name: Orders
        primary: Order ID
        fields:
          - {name: Order ID, type: singleLineText}
          - {name: Status, type: singleSelect, choices: [Pending, Shipped, Delivered]}
          - {name: Delivery Date, type: date}
          - {name: Quantity, type: number}
          - {name: Note, type: multilineText}
          - {name: Source Updated At, type: dateTime}
          - {name: Delivery Date Changed At, type: lastModifiedTime, watches: [Delivery Date]}
          - {name: Account, type: multipleRecordLinks, linked_table: Accounts}
        records:
          - {_id: recOrd00000000001, Order ID: O-1, Status: Pending, Delivery Date: 2026-10-01, Source Updated At: 2026-09-30T08:00:00Z, _modified: {Delivery Date: 2026-09-28T10:00:00Z}}
          - {_id: recOrd00000000002, Order ID: O-2, Status: Pending, Delivery Date: 2026-10-01, Source Updated At: 2026-09-30T08:00:00Z, _modified: {Delivery Date: 2026-09-28T10:00:00Z}}
          - {_id: recOrd00000000003, Order ID: O-3, Status: Pending, Delivery Date: 2026-10-01, Source Updated At: 2026-09-30T08:00:00Z, _modified: {Delivery Date: 2026-09-28T10:00:00Z}}
      - name: Order Lines
        primary: Line ID
        fields:
          - {name: Line ID, type: singleLineText}
          - {name: Quantity, type: number}
          - {name: Source Updated At, type: dateTime}
          - {name: Order, type: multipleRecordLinks, linked_table: Orders}
`

// DefaultConfig fits DefaultSeed, with a raised pace and short waits.
const DefaultConfig = `
bases:
  orders:
    id: appOrdersSandbox01
    api_url: SANDBOX
    token: ${AIRTABLE_TOKEN}
    token_owner: integrations
    requests_per_second: 200
    retry: {attempts: 5, base_delay: 50ms, rate_limit_wait: 1s, request_timeout: 2s, landing_bound: 2s}
targets:
  Accounts:
    base: orders
    table: Accounts
    key: Account ID
    version: {field: Source Updated At, kind: timestamp}
    fields:
      Name: {rules: "required"}
  Orders:
    base: orders
    table: Orders
    key: Order ID
    version: {field: Source Updated At, kind: timestamp}
    on_shared_change: review
    depends_on: [Accounts]
    fields:
      Status: {rules: "required,oneof=Pending Shipped Delivered"}
      Delivery Date: {rules: "omitempty,datetime=2006-01-02", shared: Delivery Date Changed At}
      Quantity: {}
      Note: {}
      Account: {link: Accounts}
  Order Lines:
    base: orders
    table: Order Lines
    key: Line ID
    version: {field: Source Updated At, kind: timestamp}
    depends_on: [Orders]
    fields:
      Quantity: {}
      Order: {link: Orders}
sources:
  account-system:
    target: Accounts
    sends: full
    id: account.id
    version: updated_at
    fields: {Name: account.name}
  order-system:
    target: Orders
    sends: full
    id: order.id
    version: updated_at
    fields: {Status: order.status, Delivery Date: order.delivery_date, Quantity: order.quantity, Note: order.note, Account: order.account}
  line-system:
    target: Order Lines
    sends: full
    id: line.id
    version: updated_at
    fields: {Quantity: line.quantity, Order: line.order}
replay: {stuck_after: 5m, sweep_every: 1m, attempt_cap: 5, recovery_tick: 200ms}
`
