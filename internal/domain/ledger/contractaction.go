package ledger

// From returns the long-zero address of the caller, or nil if the caller is unknown.
func (a *ContractAction) From() []byte { return longZero(a.Caller) }

// nameOf returns the name of a database value, or [Unknown].
func nameOf[T ~string](names []T, n int32) T {
	if n < 0 || int(n) >= len(names) {
		return Unknown
	}
	return names[n]
}

// CallOperationTypeOf returns the operation of a database value.
func CallOperationTypeOf(n int32) CallOperationType { return nameOf(callOperationTypes, n) }

// CallTypeOf returns the kind of a database value.
func CallTypeOf(n int32) CallType { return nameOf(callTypes, n) }

// ResultDataTypeOf returns the type of a database value.
func ResultDataTypeOf(n int32) ResultDataType { return nameOf(resultDataTypes, n-11) }
