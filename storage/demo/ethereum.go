package demo

import (
	"encoding/json"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"
)

// weibar is how many weibars, the unit of ethereum transactions, a tinybar has.
const weibar = 10_000_000_000

// gasPrice is what senders of ethereum transactions offer, in weibars.
const gasPrice = 71 * weibar

// ethereum is a transaction that a sender signed for an EVM and a relay brought to the ledger.
type ethereum struct {
	kind      int // of the ethereum transaction: 0, 1, 2 or 4
	sender    int64
	call      call // what is called, unless something is created
	create    *deployment
	nonce     *uint64 // instead of the right one
	access    bool    // with an access list
	delegate  int64   // of a transaction of type 4: the contract whose code the sender's account takes over
	file      int64   // the file that holds the call data
	anonymous bool    // keep the sender as an address only
}

// sendEthereum brings a signed transaction to the ledger through the relay. It returns the contract that it created, if any.
func (w *world) sendEthereum(e ethereum) int64 {
	t := w.tx(typeEthereum, Relay)
	c := e.call
	if c.gas == 0 {
		c.gas = 500_000
	}
	input := c.data
	if c.method != "" {
		input = w.pack(c.source, c.method, c.args...)
	}
	var to *common.Address
	if e.create != nil {
		c.gas, c.value = e.create.gas, e.create.value
		input = w.initcode(e.create.source, e.create.args...)
	} else {
		a := w.address(c.contract)
		to = &a
		t.entity = c.contract
	}
	nonce := uint64(w.nonces[e.sender])
	if e.nonce != nil {
		nonce = *e.nonce
	}
	signed := w.signEthereum(e, to, nonce, c.gas, c.value, input)
	hash := signed.Hash()
	t.ethereumHash = hash[:]
	created := int64(0)
	if e.nonce != nil {
		w.refuseNonce(t, e, c, input)
	} else {
		created = w.runEthereum(t, e, c, input)
	}
	w.keepEthereum(t, e, signed, to, c, input)
	w.commit(t)
	return created
}

// runEthereum executes the transaction and returns the contract that it created, if any.
func (w *world) runEthereum(t *transaction, e ethereum, c call, input []byte) int64 {
	var alias []byte
	if e.anonymous {
		a := w.address(e.sender)
		alias = a[:]
	}
	w.setNonce(e.sender)
	w.nonces[e.sender]++
	w.entities.get(key(e.sender))["ethereum_nonce"] = w.nonces[e.sender]
	if e.create == nil {
		to := w.address(c.contract)
		x := w.vm.run(w.address(e.sender), &to, nil, input, uint64(c.gas), c.value)
		if e.file != 0 {
			input = nil
		}
		w.record(t, x, outcome{sender: e.sender, contract: c.contract, gas: c.gas, value: c.value, input: input, aliasSender: alias})
		return 0
	}
	x := w.vm.run(w.address(e.sender), nil, nil, input, uint64(c.gas), c.value)
	created := int64(0)
	if x.err == nil {
		created = w.newContract(t, x.frames[0].to, e.create.memo, e.create.key, 0, input, x.output)
		t.entity = created
	}
	w.record(t, x, outcome{sender: e.sender, contract: created, gas: c.gas, value: c.value, initcode: input, created: created})
	return created
}

// refuseNonce keeps the result of a transaction whose nonce was not the next one.
func (w *world) refuseNonce(t *transaction, e ethereum, c call, input []byte) {
	t.result, t.entity = resultWrongNonce, 0
	w.keepResult(t, row{
		"function_parameters": input, "gas_limit": c.gas, "function_result": nil, "gas_used": int64(0), "consensus_timestamp": t.ts,
		"amount": c.value, "bloom": []byte{}, "call_result": []byte{}, "contract_id": int64(0), "created_contract_ids": []int64{},
		"error_message": nil, "payer_account_id": t.payer, "sender_id": e.sender, "failed_initcode": nil,
		"transaction_result": t.result, "transaction_nonce": 0, "gas_consumed": int64(0),
	}, []int64{0, t.payer})
}

// signEthereum makes and signs the transaction with the sender's key. Signatures are deterministic.
func (w *world) signEthereum(e ethereum, to *common.Address, nonce uint64, gas, value int64, input []byte) *types.Transaction {
	wei := new(big.Int).Mul(big.NewInt(value), big.NewInt(weibar))
	price := big.NewInt(gasPrice)
	var list types.AccessList
	if e.access && to != nil {
		list = types.AccessList{{Address: *to, StorageKeys: []common.Hash{{}, common.BigToHash(big.NewInt(2))}}}
	}
	var data types.TxData
	switch e.kind {
	case 0:
		data = &types.LegacyTx{Nonce: nonce, GasPrice: price, Gas: uint64(gas), To: to, Value: wei, Data: input}
	case 1:
		data = &types.AccessListTx{ChainID: big.NewInt(chainID), Nonce: nonce, GasPrice: price, Gas: uint64(gas), To: to, Value: wei, Data: input, AccessList: list}
	case 2:
		data = &types.DynamicFeeTx{ChainID: big.NewInt(chainID), Nonce: nonce, GasTipCap: new(big.Int), GasFeeCap: price, Gas: uint64(gas), To: to, Value: wei, Data: input, AccessList: list}
	default:
		data = &types.SetCodeTx{
			ChainID: uint256.NewInt(chainID), Nonce: nonce, GasTipCap: new(uint256.Int), GasFeeCap: uint256.MustFromBig(price), Gas: uint64(gas),
			To: *to, Value: uint256.MustFromBig(wei), Data: input, AuthList: []types.SetCodeAuthorization{w.authorize(e, nonce+1)},
		}
	}
	signed, err := types.SignNewTx(ecPrivate(personName(e.sender)), types.LatestSignerForChainID(big.NewInt(chainID)), data)
	if err != nil {
		w.fail("signing an ethereum transaction: %w", err)
		return types.NewTx(data)
	}
	return signed
}

// authorize signs that the sender's account takes over the code of a contract.
func (w *world) authorize(e ethereum, nonce uint64) types.SetCodeAuthorization {
	a, err := types.SignSetCode(ecPrivate(personName(e.sender)), types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(chainID), Address: w.address(e.delegate), Nonce: nonce,
	})
	if err != nil {
		w.fail("signing an authorization: %w", err)
	}
	return a
}

// keepEthereum writes the decoded transaction.
func (w *world) keepEthereum(t *transaction, e ethereum, signed *types.Transaction, to *common.Address, c call, input []byte) {
	raw, err := signed.MarshalBinary()
	if err != nil {
		w.fail("encoding an ethereum transaction: %w", err)
	}
	v, r, s := signed.RawSignatureValues()
	row := row{
		"call_data": input, "call_data_id": orNil(e.file), "chain_id": big.NewInt(chainID).FillBytes(make([]byte, 2)), "consensus_timestamp": t.ts,
		"data": raw, "gas_limit": c.gas, "gas_price": nil, "hash": t.ethereumHash, "max_fee_per_gas": nil, "max_gas_allowance": int64(0),
		"max_priority_fee_per_gas": nil, "nonce": int64(signed.Nonce()), "payer_account_id": t.payer, "recovery_id": nil,
		"signature_r": r.FillBytes(make([]byte, 32)), "signature_s": s.FillBytes(make([]byte, 32)), "signature_v": nil, "to_address": []byte{},
		"type": e.kind, "value": new(big.Int).Mul(big.NewInt(c.value), big.NewInt(weibar)).Bytes(), "access_list": nil, "authorization_list": nil,
	}
	if to != nil {
		row["to_address"] = to.Bytes()
	}
	if e.file != 0 {
		row["call_data"] = []byte{}
	}
	if input == nil {
		row["call_data"] = []byte{}
	}
	price := big.NewInt(gasPrice).Bytes()
	switch e.kind {
	case 0:
		row["gas_price"], row["signature_v"] = price, v.Bytes()
	case 1:
		row["gas_price"], row["recovery_id"] = price, int16(v.Int64())
	default:
		row["max_fee_per_gas"], row["max_priority_fee_per_gas"], row["recovery_id"] = price, []byte{}, int16(v.Int64())
	}
	if e.kind > 0 {
		list := []map[string]any{}
		for _, entry := range signed.AccessList() {
			list = append(list, map[string]any{"address": hexOf(entry.Address[:]), "storage_keys": entry.StorageKeys})
		}
		row["access_list"], _ = json.Marshal(list)
	}
	if e.kind == 4 {
		var list []map[string]any
		for _, a := range signed.SetCodeAuthorizations() {
			list = append(list, map[string]any{
				"address": hexOf(a.Address[:]), "chain_id": a.ChainID.Hex(), "nonce": a.Nonce, "r": hexOf(a.R.Bytes()), "s": hexOf(a.S.Bytes()),
				"y_parity": hexOf([]byte{a.V}),
			})
		}
		row["authorization_list"], _ = json.Marshal(list)
		w.changeEntity(e.sender, t.ts, row1("delegation_address", w.address(e.delegate).Bytes()))
	}
	w.out.add("ethereum_transaction", row)
}
