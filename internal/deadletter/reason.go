package deadletter

// Reason is a stable code that says why an item failed, was skipped or was refused (mission E3).
// Codes are identifiers, never exception text, and are never renamed.
type Reason string

// Reasons for filing an entry and for a replay that failed.
const (
	ReasonValidationFailed    Reason = "validation_failed"
	ReasonUnparseablePayload  Reason = "unparseable_payload"
	ReasonUnknownSource       Reason = "unknown_source"
	ReasonInvalidValue        Reason = "invalid_value"
	ReasonUnknownField        Reason = "unknown_field"
	ReasonInvalidOption       Reason = "invalid_option"
	ReasonComputedField       Reason = "computed_field"
	ReasonNoMatch             Reason = "no_match"
	ReasonMultipleMatches     Reason = "multiple_matches"
	ReasonPayloadTooLarge     Reason = "payload_too_large"
	ReasonDependencyMissing   Reason = "dependency_missing"
	ReasonTransientExhausted  Reason = "transient_exhausted"
	ReasonRateLimitExhausted  Reason = "rate_limit_exhausted"
	ReasonNoResponseExhausted Reason = "no_response_exhausted"
	ReasonBadRequest          Reason = "bad_request"
	ReasonOutOfOrder          Reason = "out_of_order"
	ReasonOther               Reason = "other"
	ReasonNewerFromSender     Reason = "newer_from_sender"
	ReasonSharedFieldChanged  Reason = "shared_field_changed"
	ReasonAllFieldsChanged    Reason = "all_fields_changed"
	ReasonNewerEntryInBatch   Reason = "newer_entry_in_batch"
	ReasonOpenSiblings        Reason = "open_siblings"
	ReasonNoVersion           Reason = "no_version"
	ReasonBlankVersion        Reason = "blank_version"
	ReasonVersionKindMismatch Reason = "version_kind_mismatch"
	ReasonWriteFailed         Reason = "write_failed"
	ReasonMayHaveBeenWritten  Reason = "may_have_been_written"
	ReasonCrashed             Reason = "crashed"
	ReasonRestored            Reason = "restored"
	ReasonAlreadyLanded       Reason = "already_landed"
	ReasonNotChosen           Reason = "not_chosen" // a field that the reviewer did not name
	ReasonBaseHalted          Reason = "base_halted"
	ReasonRunStopped          Reason = "run_stopped"
	ReasonCancelled           Reason = "cancelled"
	ReasonSwept               Reason = "swept"
	ReasonReset               Reason = "reset"
)

// Reasons lists every reason code that an entry, a write or a skipped field can carry.
func Reasons() []Reason {
	return []Reason{
		ReasonValidationFailed, ReasonUnparseablePayload, ReasonUnknownSource, ReasonInvalidValue,
		ReasonUnknownField, ReasonInvalidOption, ReasonComputedField, ReasonNoMatch,
		ReasonMultipleMatches, ReasonPayloadTooLarge, ReasonDependencyMissing,
		ReasonTransientExhausted, ReasonRateLimitExhausted, ReasonNoResponseExhausted,
		ReasonBadRequest, ReasonOutOfOrder, ReasonOther, ReasonNewerFromSender,
		ReasonSharedFieldChanged, ReasonAllFieldsChanged, ReasonNewerEntryInBatch,
		ReasonOpenSiblings, ReasonNoVersion, ReasonBlankVersion, ReasonVersionKindMismatch,
		ReasonWriteFailed, ReasonMayHaveBeenWritten, ReasonCrashed, ReasonRestored,
		ReasonAlreadyLanded, ReasonNotChosen, ReasonBaseHalted, ReasonRunStopped, ReasonCancelled,
		ReasonSwept, ReasonReset,
	}
}

// OwnFault tells whether a Replay Failed for this reason counts towards the attempt cap
// (mission O3): the entry itself is at fault, not its surroundings.
func (r Reason) OwnFault() bool {
	switch r {
	case ReasonValidationFailed, ReasonUnparseablePayload, ReasonInvalidValue, ReasonInvalidOption,
		ReasonComputedField, ReasonNoMatch, ReasonMultipleMatches, ReasonPayloadTooLarge,
		ReasonBadRequest:
		return true
	default:
		return false
	}
}
