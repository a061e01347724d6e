package sandbox

import "net/http"

// find names what is missing; for the control API, since the Web API does not say.
func (s *Sandbox) find(baseID, tableName string) (*table, error) {
	b := s.base(baseID)
	if b == nil {
		return nil, refuse(http.StatusNotFound, "base: there is none with the ID %q", baseID)
	}
	t := b.table(tableName)
	if t == nil {
		return nil, refuse(http.StatusNotFound, "table: base %s has no table %q", baseID, tableName)
	}
	return t, nil
}

func (s *Sandbox) findField(baseID, tableName, fieldName string) (*field, error) {
	t, err := s.find(baseID, tableName)
	if err != nil {
		return nil, err
	}
	if f := t.field(fieldName); f != nil {
		return f, nil
	}
	return nil, refuse(http.StatusNotFound, "field: table %q has no field %q", t.name, fieldName)
}

func (t *table) find(recordID string) (*record, error) {
	if r := t.byID[recordID]; r != nil {
		return r, nil
	}
	return nil, refuse(http.StatusNotFound, "record: table %q has no record %q", t.name, recordID)
}
