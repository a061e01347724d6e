package sandbox

import "strings"

// route is one endpoint of the Web API.
type route struct {
	method string
	path   []string
	scope  string
	role   role // the least that its owner must have on the base
	serve  func(*call) (any, error)
}

const (
	readRecords  = "data.records:read"
	writeRecords = "data.records:write"
	readSchema   = "schema.bases:read"
	writeSchema  = "schema.bases:write"
	manageHooks  = "webhook:manage"
)

// leastRole is the role without which a scope is worth nothing. Of those who
// may not write records, Airtable says what it is that they may not.
var leastRole = map[string]role{
	readRecords: roleRead, readSchema: roleRead, writeRecords: roleRead, writeSchema: roleCreate, manageHooks: roleCreate,
}

var routes []*route

func init() {
	add := func(method, path, scope string, serve func(*call) (any, error)) {
		routes = append(routes, &route{method, strings.Split(path, "/"), scope, leastRole[scope], serve})
	}
	add("GET", "v0/meta/whoami", "", serveWhoami)
	add("GET", "v0/meta/bases", "", serveBases)
	add("GET", "v0/meta/bases/{base}/tables", readSchema, serveTables)
	add("POST", "v0/meta/bases/{base}/tables", writeSchema, serveCreateTable)
	add("PATCH", "v0/meta/bases/{base}/tables/{table}", writeSchema, serveChangeTable)
	add("POST", "v0/meta/bases/{base}/tables/{table}/fields", writeSchema, serveCreateField)
	add("PATCH", "v0/meta/bases/{base}/tables/{table}/fields/{field}", writeSchema, serveChangeField)

	add("GET", "v0/bases/{base}/webhooks", manageHooks, serveHooks)
	add("POST", "v0/bases/{base}/webhooks", manageHooks, serveCreateHook)
	add("DELETE", "v0/bases/{base}/webhooks/{hook}", manageHooks, serveDeleteHook)
	add("GET", "v0/bases/{base}/webhooks/{hook}/payloads", manageHooks, serveHookPayloads)
	add("POST", "v0/bases/{base}/webhooks/{hook}/refresh", manageHooks, serveRefreshHook)
	add("POST", "v0/bases/{base}/webhooks/{hook}/enableNotifications", manageHooks, serveEnableHook)

	add("GET", "v0/{base}/{table}", readRecords, serveList)
	add("POST", "v0/{base}/{table}/listRecords", readRecords, serveListByPost)
	add("POST", "v0/{base}/{table}", writeRecords, serveCreate)
	add("PATCH", "v0/{base}/{table}", writeRecords, serveUpdateBatch)
	add("PUT", "v0/{base}/{table}", writeRecords, serveUpdateBatch)
	add("DELETE", "v0/{base}/{table}", writeRecords, serveDeleteBatch)
	add("GET", "v0/{base}/{table}/{record}", readRecords, serveRecord)
	add("PATCH", "v0/{base}/{table}/{record}", writeRecords, serveUpdate)
	add("PUT", "v0/{base}/{table}/{record}", writeRecords, serveUpdate)
	add("DELETE", "v0/{base}/{table}/{record}", writeRecords, serveDelete)
}

// matchRoute finds the endpoint of a request; no method matches any. A base
// that is not even shaped like an ID is no endpoint at all.
func matchRoute(method string, path []string) (*route, map[string]string) {
	for _, r := range routes {
		if method != "" && r.method != method || len(r.path) != len(path) {
			continue
		}
		if params, ok := r.match(path); ok {
			return r, params
		}
	}
	return nil, nil
}

func (r *route) match(path []string) (map[string]string, bool) {
	params := map[string]string{}
	for i, part := range r.path {
		name, isParam := strings.CutPrefix(part, "{")
		if !isParam {
			if part != path[i] {
				return nil, false
			}
			continue
		}
		name = strings.TrimSuffix(name, "}")
		if path[i] == "" || (name == "base" && !prefixedID("app", path[i])) {
			return nil, false
		}
		params[name] = path[i]
	}
	return params, true
}

func (r *route) needs(param string) bool {
	for _, part := range r.path {
		if part == "{"+param+"}" {
			return true
		}
	}
	return false
}

func (r *route) writes() bool { return r.scope == writeRecords }
