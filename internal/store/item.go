package store

import (
	"context"

	"airtable-replay/internal/deadletter"
)

// ItemOf is one entry as a chunk would hold it, whatever its status: for a preview, which takes
// nothing and stores nothing.
func (s *Store) ItemOf(ctx context.Context, e deadletter.Entry) (it Item, err error) {
	err = s.InTx(ctx, func(ctx context.Context) error {
		const itemOf = `SELECT record_key, seq, wrote_version, version, coalesce(landed_intent::text, ''), flags FROM entry WHERE id = $1::uuid`
		var wrote, version string
		m := Member{
			MemberRef: MemberRef{Kind: deadletter.MemberEntry, ID: e.ID, Claim: e.Claim, Revision: e.PayloadRevision}, Source: e.SourceSystem,
			Operation: e.Operation, RawPayload: e.RawPayload, FirstAttemptAt: e.FirstAttemptAt, Mode: deadletter.Checked,
		}
		var key string
		if err := s.db(ctx).QueryRow(ctx, itemOf, e.ID).Scan(&key, &m.Order, &wrote, &version, &m.LandedIntent, &m.Flags); err != nil {
			return err
		}
		if m.Wrote, err = parseVersion(wrote); err != nil {
			return err
		}
		if m.Filed, err = parseVersion(version); err != nil {
			return err
		}
		it, err = s.itemAround(ctx, RecordRef{Target: e.TargetTable, Key: key}, m)
		it.Siblings = without(it.Siblings, e.ID)
		return err
	})
	return it, interpretError("load item", err)
}

// itemAround is one member with what matters to its record.
func (s *Store) itemAround(ctx context.Context, ref RecordRef, m Member) (Item, error) {
	l := newLoading([]RecordRef{ref})
	if err := s.loadAround(ctx, l); err != nil {
		return Item{}, err
	}
	it := l.Items[0]
	it.Members = []Member{m}
	return it, nil
}

func without(list []string, id string) []string {
	var out []string
	for _, v := range list {
		if v != id {
			out = append(out, v)
		}
	}
	return out
}
