package world

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"

	"heliograph/internal/domain/ledger/codes"
)

// Pack returns the ABI encoding of a call of a method, or of the constructor arguments if method is empty. contract is
// the name of a compiled contract; an unknown one has no methods. If the arguments do not fit, it calls [World.Fail]
// and returns nil.
func (w *World) Pack(contract, method string, args ...any) []byte {
	a := w.artifacts[contract]
	data, err := a.ABI.Pack(method, args...)
	if err != nil {
		w.Fail("call of %s.%s: %w", contract, method, err)
	}
	return data
}

// ArgumentType returns the Go type of argument i of a method, or of the constructor if method is empty. contract
// is the name of a compiled contract. It panics if there is no such argument.
func (w *World) ArgumentType(contract, method string, i int) reflect.Type {
	inputs := w.artifacts[contract].ABI.Constructor.Inputs
	if method != "" {
		inputs = w.artifacts[contract].ABI.Methods[method].Inputs
	}
	return inputs[i].Type.GetType()
}

// Initcode returns the initcode of a contract: its bytecode and the constructor arguments. contract is the name of a
// compiled contract. If the arguments do not fit, it calls [World.Fail] and returns the bytecode alone.
func (w *World) Initcode(contract string, args ...any) []byte {
	return append(common.FromHex(w.artifacts[contract].Bytecode), w.Pack(contract, "", args...)...)
}

// idOf returns the number of the entity with an EVM address, the number that a long-zero address contains (even if
// no such entity exists), or 0.
func (w *World) idOf(a common.Address) int64 {
	if id, ok := w.idByAddress[a]; ok {
		return id
	}
	if id := a.Big(); id.IsInt64() && id.Int64() < 1<<38 {
		return id.Int64()
	}
	return 0
}

// evmHash returns the 32-byte hash of the transaction in the contract tables: the Ethereum hash if it has one,
// else the start of its hash.
func (t *Transaction) evmHash() []byte {
	if t.ethereumHash != nil {
		return t.ethereumHash
	}
	return t.hash[:32]
}

// Deployment describes a contract to create.
type Deployment struct {
	Source    string // name of the compiled contract
	Args      []any
	Memo      string
	Key       []byte
	File      int64 // file with the initcode, or 0 if the transaction contains it
	Gas       int64
	value     int64
	RenewedBy int64
	Expires   bool
	Broken    bool // omits the constructor arguments, so that the creation fails
}

// Deploy creates a contract with a ContractCreate transaction that payer pays, and returns its number, or 0 if the
// creation failed; the transaction then has the error as result. It runs the initcode in the EVM. The contract has a
// long-zero address.
func (w *World) Deploy(payer int64, d Deployment) int64 {
	t := w.tx(codes.TypeContractCreate, payer, 0)
	init := common.FromHex(w.artifacts[d.Source].Bytecode)
	if !d.Broken {
		init = w.Initcode(d.Source, d.Args...)
	}
	at := LongZeroAddress(w.NextID("contract"))
	id := w.execute(t, outcome{sender: payer, gas: d.Gas, value: d.value, create: &d, at: &at}, init)
	if id != 0 {
		e := w.entities.get(id)
		e["auto_renew_account_id"], e["evm_address"] = nullIfZero(d.RenewedBy), nil
		if d.Expires {
			e["expiration_timestamp"] = t.ts + paidPeriods*RenewalPeriod*Second
		}
	}
	w.commit(t)
	return id
}

// execute runs a call or creation in the EVM and records the outcome with [World.record], which sets the result, gas
// and fee of t. It returns the number of the called or created contract, or 0 if its creation failed. It does not
// commit t.
func (w *World) execute(t *Transaction, o outcome, input []byte) int64 {
	if o.create == nil {
		to := w.Address(o.contract)
		w.record(t, w.evm.run(w.Address(o.sender), &to, nil, input, uint64(o.gas), o.value), o)
		return o.contract
	}
	o.initcode = input
	x := w.evm.run(w.Address(o.sender), nil, o.at, input, uint64(o.gas), o.value)
	if x.err == nil {
		o.contract = w.newContract(t, x.frames[0].to, o.create.Memo, o.create.Key, o.create.File, input, x.output)
		t.entity = o.contract
	}
	w.record(t, x, o)
	return o.contract
}

// newContract adds the entity and the contract row of a contract that an execution created, and returns its
// number. A nil key becomes the key of the contract itself. The initcode is stored only if no file contains it.
func (w *World) newContract(
	t *Transaction, at common.Address, memo string, k []byte, file int64, init, code []byte,
) int64 {
	id := w.takeID("contract")
	if k == nil {
		k = ContractKey(id)
	}
	w.newEntity("CONTRACT", id, t.ts, Row{
		"memo": memo, "key": k, "evm_address": at.Bytes(),
		"ethereum_nonce": int64(1),
	})
	r := Row{"id": id, "file_id": nullIfZero(file), "initcode": init, "runtime_bytecode": code}
	if file != 0 {
		r["initcode"] = nil
	}
	w.contracts.save(t.ts, r)
	return id
}

// Call describes a contract call.
type Call struct {
	Payer    int64
	Contract int64
	Source   string
	Method   string
	Args     []any
	Data     []byte // instead of a method
	Gas      int64
	Value    int64
}

// CallContract runs a contract in the EVM with a ContractCall transaction and returns the transaction. A gas limit
// of 0 becomes 400,000. A call that reverts sets the result of the transaction and is no error.
func (w *World) CallContract(c Call) *Transaction {
	t := w.tx(codes.TypeContractCall, c.Payer, c.Contract)
	input := w.inputOf(c)
	w.execute(t, outcome{
		sender: c.Payer, contract: c.Contract, gas: cmp.Or(c.Gas, 400_000), value: c.Value, input: input,
	}, input)
	return w.commit(t)
}

// inputOf returns the input of a call, encoded if the call has a method. If the arguments do not fit, it calls
// [World.Fail] and returns nil, as [World.Pack] does.
func (w *World) inputOf(c Call) []byte {
	if c.Method == "" {
		return c.Data
	}
	return w.Pack(c.Source, c.Method, c.Args...)
}

// outcome is the context of an execution that record needs.
type outcome struct {
	sender, contract, gas, value int64
	input, initcode              []byte
	create                       *Deployment     // nil for a call
	at                           *common.Address // of the new contract, if the transaction determines it
	aliasSender                  []byte          // stores the sender as an address in the function result only
}

// record adds the contract result, logs, state changes, actions and child transactions of an execution to the rows,
// and its value transfers to t. It sets the result, gas, fee and bloom filter of t. At least four fifths of the gas
// limit are charged.
func (w *World) record(t *Transaction, x execution, o outcome) {
	created := []int64{}
	if o.create != nil && o.contract != 0 {
		created = append(created, o.contract)
	}
	var message any
	output := x.output
	switch {
	case x.err == nil:
	case errors.Is(x.err, vm.ErrExecutionReverted):
		t.result, message = codes.ContractRevertExecuted, hexutil.Encode(output)
	default:
		t.result, message, output = codes.ContractExecutionException, failureName(x.err), []byte{}
		if errors.Is(x.err, vm.ErrOutOfGas) {
			t.result = codes.InsufficientGas
		}
	}
	output = present(output)
	for _, v := range x.transfers {
		t.hbars(w.idOf(v.from), w.idOf(v.to), v.amount)
	}
	parties := []int64{o.contract, t.payer}
	for _, f := range x.created {
		created = append(created, w.recordCreation(t, f))
	}
	w.recordLogs(t, x, o, &parties)
	w.recordState(t, x, &parties)
	w.recordActions(t, x, o)
	for _, n := range x.tokenTransfers {
		parties = append(parties, w.idOf(n.token))
	}
	used := max(x.gasUsed, o.gas*4/5)
	t.gasUsed = used
	t.fee = used*w.gasPrice + t.fee%10_000
	t.maxFee = o.gas*w.gasPrice + Hbar
	t.bloom = bloomOf(x.logs)
	r := Row{
		"gas_limit": o.gas, "gas_used": used, "amount": o.value, "bloom": t.bloom, "call_result": output,
		"contract_id":          o.contract,
		"created_contract_ids": created, "error_message": message, "sender_id": o.sender, "gas_consumed": x.gasUsed,
	}
	if o.input != nil {
		r["function_parameters"] = o.input
	}
	if o.initcode != nil && x.err != nil {
		r["failed_initcode"] = o.initcode
	}
	if o.aliasSender != nil {
		r["sender_id"] = nil
		r["function_result"] = []byte(functionResult(o, output, used))
	}
	w.addResult(t, r, parties)
	for _, n := range x.tokenTransfers {
		w.recordTokenTransfer(t, o.contract, n)
	}
	t.sidecars++
}

// failureName returns the error message of contract results and actions for an EVM error that is not a revert:
// INSUFFICIENT_GAS or INVALID_OPERATION.
func failureName(err error) string {
	if errors.Is(err, vm.ErrOutOfGas) {
		return "INSUFFICIENT_GAS"
	}
	return "INVALID_OPERATION"
}

// functionResult returns the protobuf message ContractFunctionResult for a call whose sender is an EVM address. It
// uses the contract, gas, input and sender of o.
func functionResult(o outcome, output []byte, used int64) message {
	sender := message(nil).bytes(4, o.aliasSender)
	return message(nil).msg(1, entityID(o.contract)).bytes(2, output).num(5, used).num(10, o.gas).bytes(12,
		o.input).msg(13, sender)
}

// addResult adds a row of contract_result and its rows in the lookup tables, and the parties to those of t.
// Columns that are missing in known get the values of a call that did nothing.
func (w *World) addResult(t *Transaction, known Row, parties []int64) {
	r := Row{
		"function_parameters": []byte{}, "gas_limit": int64(0), "gas_used": int64(0), "consensus_timestamp": t.ts,
		"amount": int64(0), "bloom": []byte{},
		"call_result": []byte{}, "contract_id": int64(0), "created_contract_ids": []int64{},
		"payer_account_id":   t.payer,
		"transaction_result": int(t.result), "transaction_nonce": t.nonce, "gas_consumed": int64(0),
	}
	maps.Copy(r, known)
	t.evmRows = append(t.evmRows, r)
	w.rows.add("contract_result", r)
	contract := r["contract_id"].(int64)
	var ids []int64
	for _, id := range parties {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	for _, id := range ids {
		w.rows.add("contract_transaction", Row{
			"consensus_timestamp": t.ts, "entity_id": id, "contract_ids": ids,
			"payer_account_id": t.payer,
		})
	}
	w.rows.add("contract_transaction_hash", Row{
		"consensus_timestamp": t.ts, "hash": t.evmHash(), "payer_account_id": t.payer, "entity_id": contract,
		"transaction_result": int(t.result),
	})
	for _, id := range ids {
		if id != 0 {
			t.parties = append(t.parties, id)
		}
	}
}

// recordCreation adds a contract that another contract created in t, with a child transaction that it commits, and
// returns its number. The gas of its result includes the intrinsic gas, because a trace runs it as a message of its
// own.
func (w *World) recordCreation(t *Transaction, f *frame) int64 {
	c := w.child(t, codes.TypeContractCreate)
	id := w.newContract(c, f.to, "", nil, 0, f.input, f.output)
	c.entity = id
	intrinsic, _ := intrinsicGas(f.input, true)
	w.addResult(c, Row{
		"gas_limit": int64(f.gas + intrinsic), "gas_used": int64(f.used + intrinsic), "contract_id": id,
		"created_contract_ids": []int64{id}, "sender_id": w.idOf(f.from), "call_result": f.output,
		"gas_consumed": int64(f.used + intrinsic),
	}, []int64{id, c.payer})
	w.commit(c)
	return id
}

// recordTokenTransfer executes a token transfer, which a contract requested of the token system contract, in a child
// transaction of t. Its log belongs to the call. If the transfer is impossible, it calls [World.Fail] and adds the
// failed child nevertheless.
func (w *World) recordTokenTransfer(t *Transaction, contract int64, n tokenTransfer) {
	c := w.child(t, codes.TypeCryptoTransfer)
	c.caller, c.called = t, contract
	token, from, to := w.idOf(n.token), w.idOf(n.from), w.idOf(n.to)
	w.addTokenTransfer(c, from, to, token, n.amount)
	if c.result != codes.Success {
		w.Fail("the token system contract would have refused a transfer of 0.0.%d with code %d", token, c.result)
	}
	w.addResult(c, Row{
		"function_parameters": n.input, "gas_used": int64(n.gas), "call_result": Word(int64(codes.Success)),
		"contract_id": int64(tokenSystemContract), "sender_id": contract, "gas_consumed": int64(n.gas),
	}, []int64{tokenSystemContract, c.payer})
	w.commit(c)
}

// bloomOf returns the bloom filter of logs, which is empty without logs.
func bloomOf(logs []*types.Log) []byte {
	if len(logs) == 0 {
		return []byte{}
	}
	return types.CreateBloom(&types.Receipt{Logs: logs}).Bytes()
}

// recordLogs adds the rows of an execution's logs, and appends their contracts to *parties. It counts the logs in t,
// which determines the index of later logs. The root of all logs is the contract in o, which the transaction called or
// created.
func (w *World) recordLogs(t *Transaction, x execution, o outcome, parties *[]int64) {
	for _, l := range x.logs {
		id := w.idOf(l.Address)
		r := Row{
			"bloom": bloomOf([]*types.Log{l}), "consensus_timestamp": t.ts, "contract_id": id,
			"data": append([]byte{}, l.Data...), "index": t.logs,
			"payer_account_id": t.payer, "root_contract_id": o.contract, "synthetic": false,
		}
		for i, topic := range l.Topics {
			r[fmt.Sprintf("topic%d", i)] = trim(topic[:])
		}
		t.logs++
		t.evmRows = append(t.evmRows, r)
		w.rows.add("contract_log", r)
		*parties = append(*parties, id)
	}
}

// recordState adds a row of contract_state_change for each slot that an execution read or wrote, except those of
// contracts whose creation failed. If the execution succeeded, it also changes the current value of written slots and
// appends their contracts to *parties.
func (w *World) recordState(t *Transaction, x execution, parties *[]int64) {
	for _, s := range x.slots {
		id := w.idOf(s.contract)
		if w.contracts.get(id) == nil {
			continue // storage of a contract whose creation failed
		}
		r := Row{
			"consensus_timestamp": t.ts, "contract_id": id, "payer_account_id": t.payer, "slot": trim(s.slot[:]),
			"value_read": trim(s.before[:]), "value_written": nil, "migration": false,
		}
		if s.written && x.err == nil {
			r["value_written"] = trim(s.after[:])
			changed := Row{
				"contract_id": id, "slot": s.slot.Bytes(), "modified_timestamp": t.ts, "value": trim(s.after[:]),
			}
			if w.slots.get(id, s.slot.Bytes()) == nil {
				changed["created_timestamp"] = t.ts
			}
			w.slots.save(t.ts, changed)
			*parties = append(*parties, id)
		}
		w.rows.add("contract_state_change", r)
	}
}

// CallAndExport runs a contract with a ContractCall transaction, as [World.CallContract] does, and adds rows for its
// untouched storage slots to the state changes of the call, marked as a migration.
func (w *World) CallAndExport(c Call) {
	t := w.CallContract(c)
	touched := map[string]bool{}
	for _, r := range w.rows["contract_state_change"] {
		if r["consensus_timestamp"] == t.ts {
			touched[string(r["slot"].([]byte))] = true
		}
	}
	for _, slot := range w.slots.all {
		r := slot.row
		if slot := trim(r["slot"].([]byte)); r["contract_id"] == c.Contract && !touched[string(slot)] {
			w.rows.add("contract_state_change", Row{
				"consensus_timestamp": t.ts, "contract_id": c.Contract, "payer_account_id": t.payer, "slot": slot,
				"value_read": r["value"], "value_written": nil, "migration": true,
			})
		}
	}
}

// recordActions adds the rows of contract_action: the call tree of an execution. It changes nothing else. Types of
// calls are 1 for calls, 2 for creations, 3 for precompiled and 4 for system contracts. Types of results are 11 for
// output, 12 for the reason of a revert and 13 for another error.
func (w *World) recordActions(t *Transaction, x execution, o outcome) {
	operations := map[vm.OpCode]int{
		vm.CALL: 1, vm.CALLCODE: 2, vm.DELEGATECALL: 3, vm.STATICCALL: 4, vm.CREATE: 5,
		vm.CREATE2: 6,
	}
	for i, f := range x.frames {
		r := Row{
			"call_depth": f.depth, "call_type": 1, "caller": w.idOf(f.from), "caller_type": "CONTRACT",
			"consensus_timestamp": t.ts,
			"gas":                 int64(f.gas), "gas_used": int64(f.used), "index": i, "input": present(f.input),
			"result_data":      present(f.output),
			"result_data_type": 11,
			"value":            f.value.Int64(), "call_operation_type": operations[f.op], "payer_account_id": t.payer,
		}
		if f.depth == 0 {
			r["caller"], r["caller_type"] = o.sender, "ACCOUNT"
		}
		to := w.idOf(f.to)
		switch {
		case f.op == vm.CREATE || f.op == vm.CREATE2:
			r["call_type"] = 2
			if f.err == nil {
				r["recipient_contract"] = to
			}
		case to == tokenSystemContract:
			r["call_type"], r["recipient_contract"] = 4, to
		case to > 0 && to < 10:
			r["call_type"], r["recipient_address"] = 3, f.to.Bytes()
		case w.contracts.get(to) != nil:
			r["recipient_contract"] = to
		case to != 0:
			r["recipient_account"] = to
		default:
			r["recipient_address"] = f.to.Bytes()
		}
		switch {
		case f.err == nil:
		case errors.Is(f.err, vm.ErrExecutionReverted):
			r["result_data_type"] = 12
		default:
			r["result_data_type"], r["result_data"] = 13, []byte(failureName(f.err))
		}
		w.rows.add("contract_action", r)
	}
}

// setNonces copies the nonces of contracts from the EVM to the entity rows, at least 1, without new versions.
func (w *World) setNonces() {
	for _, c := range w.contracts.all {
		id := c.row["id"].(int64)
		w.entities.get(id)["ethereum_nonce"] = max(int64(w.evm.state.GetNonce(w.Address(id))), 1)
	}
}

// FailCall adds a ContractCall transaction and its result that fail with INVALID_CONTRACT_ID. It does not run the
// EVM.
func (w *World) FailCall(payer, gas int64, data []byte) {
	t := w.tx(codes.TypeContractCall, payer, 0)
	t.result = codes.InvalidContractID
	w.addResult(t, Row{
		"function_parameters": data, "gas_limit": gas, "bloom": nil, "call_result": nil, "created_contract_ids": nil,
		"error_message": "INVALID_CONTRACT_ID", "sender_id": payer, "gas_consumed": nil,
	}, []int64{0, payer})
	w.commit(t)
}

// DeleteContract marks a contract as deleted and transfers its hbars to heir, in a transaction that payer pays.
// permanent marks a removal by the network.
func (w *World) DeleteContract(id, payer, heir int64, permanent bool) {
	t := w.tx(codes.TypeContractDelete, payer, id)
	if rest := w.balances[id]; rest > 0 {
		t.hbars(id, heir, rest)
	}
	w.commit(t)
	w.changeEntity(id, t.ts, Row{"deleted": true, "obtainer_id": heir, "permanent_removal": permanent})
}
