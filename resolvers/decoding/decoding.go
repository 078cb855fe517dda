// Package decoding reads the call data of contract results, and decodes calls, errors and logs of contracts with the
// ABIs that a client sends and the built-in ones.
package decoding

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"heliograph/graph"
	"heliograph/graph/fault"
	"heliograph/graph/rowplan"
	"heliograph/internal/base/list"
	"heliograph/internal/domain/evm/system"
	"heliograph/internal/domain/evm/system/abi"
	"heliograph/internal/domain/ledger"
	"heliograph/resolvers/loading"
	"heliograph/storage"
	"heliograph/storage/transactions"
)

// Fields implements the functions of [graph.Fields] for call data and for what ABIs decode. It keeps the newest ABI of
// a client, because an operation usually has one for all its fields. Operations use one Fields at the same time.
type Fields struct {
	newest atomic.Pointer[parsedABI]
}

type parsedABI struct {
	texts []string
	abi   *abi.ABI
}

// builtInABI has the standards and the network's system contracts.
var builtInABI = sync.OnceValues(func() (*abi.ABI, error) {
	return abi.New(slices.Concat(strings.Split(strings.TrimSpace(abi.Standard), "\n"), system.Declarations()), nil)
})

// abiOf returns the ABI with the declarations of a client, a JSON list or single declarations in texts, and the
// built-in ones, or only these for no texts. It keeps the last one in f, because the fields of a document have the
// same texts. Texts of more than [abi.MaxText] bytes, or that are not an ABI, are BAD_USER_INPUT.
func (f *Fields) abiOf(texts []string) (*abi.ABI, error) {
	base, err := builtInABI()
	if err != nil || len(texts) == 0 {
		return base, err
	}
	if kept := f.newest.Load(); kept != nil && slices.Equal(kept.texts, texts) {
		return kept.abi, nil
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	if size > abi.MaxText {
		return nil, fault.Input("abi has %d bytes, at most %d are allowed", size, abi.MaxText)
	}
	parsed, err := abi.New(texts, base)
	if err != nil {
		return nil, fault.Input("%v", err)
	}
	f.newest.Store(&parsedABI{texts, parsed})
	return parsed, nil
}

// decoded parses the declarations of a client, and returns a function that decodes a part of each row with them by
// decode. It reads nothing from the database. Its errors are those of abiOf.
func decoded[T any](
	f *Fields, texts []string, of []T, decode func(*abi.ABI, T) *abi.Decoded,
) (rowplan.Results[*abi.Decoded], error) {
	a, err := f.abiOf(texts)
	if err != nil {
		return nil, err
	}
	return func() ([]*abi.Decoded, error) {
		return list.Map(of, func(v T) *abi.Decoded { return decode(a, v) }), nil
	}, nil
}

// ContractLogDecoded resolves ContractLog.decoded: the event of each log, nil if no declaration fits. It reads nothing
// from the database. Texts that are not an ABI are BAD_USER_INPUT.
func (f *Fields) ContractLogDecoded(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractLog, args graph.ContractLogDecodedArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, l *ledger.ContractLog) *abi.Decoded {
		return a.Log(l.Topics, l.Data)
	})
}

// ContractResultDecodedCall resolves ContractResult.decodedCall: the call of each result, and what it returned if it
// succeeded; nil if no declaration fits. It queues a read of the call data in the batch of q, unless a single result
// was read with it. Texts that are not an ABI are BAD_USER_INPUT.
func (f *Fields) ContractResultDecodedCall(
	ctx context.Context, q rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultDecodedCallArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	inputs, err := f.ContractResultCallData(ctx, q, of)
	if err != nil {
		return nil, err
	}
	a, err := f.abiOf(args.Abi)
	if err != nil {
		return nil, err
	}
	return func() ([]*abi.Decoded, error) {
		data, err := inputs()
		out := make([]*abi.Decoded, len(data))
		for i, input := range data {
			var output []byte
			if of[i].Succeeded() {
				output = append([]byte{}, of[i].CallResult...) // not nil, which is an unknown one
			}
			out[i] = system.DecodeCall(a, input, output)
		}
		return out, err
	}, nil
}

// ContractResultDecodedError resolves ContractResult.decodedError: the error of each result that failed, from its
// message in hex or its call result; nil for others and if no declaration fits. It reads nothing from the database.
// Texts that are not an ABI are BAD_USER_INPUT.
func (f *Fields) ContractResultDecodedError(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultDecodedErrorArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, r *ledger.ContractResult) *abi.Decoded {
		if r.Succeeded() {
			return nil
		}
		if data, err := ledger.ParseHex(r.ErrorMessage.V); err == nil && len(data) > 0 {
			return system.DecodeError(a, data)
		}
		return system.DecodeError(a, r.CallResult)
	})
}

// ContractActionDecodedCall resolves ContractAction.decodedCall: the call of each action, and what it returned if it
// succeeded; nil if no declaration fits. It reads nothing from the database. Texts that are not an ABI are
// BAD_USER_INPUT.
func (f *Fields) ContractActionDecodedCall(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractAction, args graph.ContractActionDecodedCallArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, action *ledger.ContractAction) *abi.Decoded {
		if action.ResultDataType != "OUTPUT" {
			return system.DecodeCall(a, action.Input, nil)
		}
		return system.DecodeCall(a, action.Input, append([]byte{}, action.ResultData...)) // not nil, as above
	})
}

// ContractActionDecodedError resolves ContractAction.decodedError: the revert reason of each action; nil if it has
// none or no declaration fits. It reads nothing from the database. Texts that are not an ABI are BAD_USER_INPUT.
func (f *Fields) ContractActionDecodedError(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractAction, args graph.ContractActionDecodedErrorArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, action *ledger.ContractAction) *abi.Decoded {
		if action.ResultDataType != "REVERT_REASON" {
			return nil
		}
		return system.DecodeError(a, action.ResultData)
	})
}

// ContractResultCallData resolves ContractResult.callData: that of the Ethereum transaction, else the function
// parameters, else that of the file. It queues a read in the batch of q, unless a single result was read with its call
// data.
func (*Fields) ContractResultCallData(
	_ context.Context, q rowplan.Request, of []*ledger.ContractResult,
) (rowplan.Results[[]byte], error) {
	return callData(q, of, func(r *ledger.ContractResult, d *ledger.CallData) []byte {
		for _, data := range [][]byte{d.Own, r.FunctionParameters, d.File} {
			if len(data) > 0 {
				return data
			}
		}
		return r.FunctionParameters
	})
}

// ContractResultFailedCallData resolves ContractResult.failedCallData: the init code that failed, else the call data in
// the Ethereum transaction of a failed result. It queues a read in the batch of q, unless a single result was read with
// its call data.
func (*Fields) ContractResultFailedCallData(
	_ context.Context, q rowplan.Request, of []*ledger.ContractResult,
) (rowplan.Results[[]byte], error) {
	return callData(q, of, func(r *ledger.ContractResult, d *ledger.CallData) []byte {
		if r.FailedInitcode == nil && !r.Succeeded() && len(d.Own) > 0 {
			return d.Own
		}
		return r.FailedInitcode
	})
}

// callData returns values that depend on the call data of results, which it queues reading in the batch of q. That of a
// single result can have been read with it, after callData is called.
func callData(
	q rowplan.Request, of []*ledger.ContractResult, value func(*ledger.ContractResult, *ledger.CallData) []byte,
) (rowplan.Results[[]byte], error) {
	read := storage.Known[[]*ledger.CallData](nil)
	if len(of) != 1 || !of[0].Input.Valid {
		read = transactions.QueueCallData(loading.BatchOf(q), of)
	}
	return storage.Map(read, func(got []*ledger.CallData) [][]byte {
		out := make([][]byte, len(of))
		for i, r := range of {
			data := &r.Input.V
			if i < len(got) && got[i] != nil {
				data = got[i]
			}
			out[i] = value(r, data)
		}
		return out
	}), nil
}
