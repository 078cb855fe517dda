package resolvers

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
)

// abis parses ABIs. It keeps the newest one, because an operation usually has one for all its fields.
type abis struct {
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

// of returns the ABI with the declarations of a client and the built-in ones. The last one is kept, because the
// fields of a document have the same texts.
func (a *abis) of(texts []string) (*abi.ABI, error) {
	base, err := builtInABI()
	if err != nil || len(texts) == 0 {
		return base, err
	}
	if kept := a.newest.Load(); kept != nil && slices.Equal(kept.texts, texts) {
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
	a.newest.Store(&parsedABI{texts, parsed})
	return parsed, nil
}

// decoded decodes a part of each row with declarations.
func decoded[T any](
	f fields, texts []string, of []T, decode func(*abi.ABI, T) *abi.Decoded,
) (rowplan.Results[*abi.Decoded], error) {
	a, err := f.abis.of(texts)
	if err != nil {
		return nil, err
	}
	return func() ([]*abi.Decoded, error) {
		return list.Map(of, func(v T) *abi.Decoded { return decode(a, v) }), nil
	}, nil
}

// ContractLogDecoded decodes logs.
func (f fields) ContractLogDecoded(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractLog, args graph.ContractLogDecodedArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, l *ledger.ContractLog) *abi.Decoded {
		return a.Log(l.Topics, l.Data)
	})
}

// ContractResultDecodedCall decodes the call data of results, and what successful calls returned.
func (f fields) ContractResultDecodedCall(
	ctx context.Context, q rowplan.Request, of []*ledger.ContractResult, args graph.ContractResultDecodedCallArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	inputs, err := f.ContractResultCallData(ctx, q, of)
	if err != nil {
		return nil, err
	}
	a, err := f.abis.of(args.Abi)
	if err != nil {
		return nil, err
	}
	return func() ([]*abi.Decoded, error) {
		data, err := inputs()
		out := make([]*abi.Decoded, len(data))
		for i, input := range data {
			var output []byte
			if of[i].Succeeded() {
				output = slices.Concat([]byte{}, of[i].CallResult)
			}
			out[i] = system.DecodeCall(a, input, output)
		}
		return out, err
	}, nil
}

// ContractResultDecodedError decodes the errors of results.
func (f fields) ContractResultDecodedError(
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

// ContractActionDecodedCall decodes the input of actions, and what they returned.
func (f fields) ContractActionDecodedCall(
	_ context.Context, _ rowplan.Request, of []*ledger.ContractAction, args graph.ContractActionDecodedCallArgs,
) (
	rowplan.Results[*abi.Decoded], error,
) {
	return decoded(f, args.Abi, of, func(a *abi.ABI, action *ledger.ContractAction) *abi.Decoded {
		if action.ResultDataType != "OUTPUT" {
			return system.DecodeCall(a, action.Input, nil)
		}
		return system.DecodeCall(a, action.Input, slices.Concat([]byte{}, action.ResultData))
	})
}

// ContractActionDecodedError decodes the revert reasons of actions.
func (f fields) ContractActionDecodedError(
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
