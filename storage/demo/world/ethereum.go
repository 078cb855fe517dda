package world

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"math/big"
	"slices"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/holiman/uint256"

	"heliograph/internal/base/list"
	"heliograph/internal/domain/ledger/codes"
	"heliograph/storage/demo"
)

// weibar is the number of weibars, the unit of Ethereum transactions, in a tinybar.
const weibar = 10_000_000_000

// EthereumTransaction describes a signed transaction that a relay submits.
type EthereumTransaction struct {
	Type      int // 0, 1, 2 or 4
	Sender    int64
	Call      Call // call, unless Create is set
	Create    *Deployment
	Nonce     *uint64 // overrides the correct nonce
	Access    bool    // with an access list
	Delegate  int64   // type 4: contract whose code is delegated to the account of the sender
	File      int64   // the file that holds the call data
	Anonymous bool    // stores the sender as an address only
}

// SendEthereum signs an Ethereum transaction with the key of the sender and submits it through the relay, which pays
// the fee. The sender refunds the gas. It returns the number of the created contract, or 0. If the transaction has an
// explicit nonce, it fails with WRONG_NONCE and does not run. A gas limit of 0 of a call becomes 500,000.
func (w *World) SendEthereum(e EthereumTransaction) int64 {
	t := w.tx(codes.TypeEthereumTransaction, demo.Relay, 0)
	c := e.Call
	c.Gas = cmp.Or(c.Gas, 500_000)
	input := w.inputOf(c)
	var to *common.Address
	if e.Create != nil {
		c.Gas, c.Value = e.Create.Gas, e.Create.value
		input = w.Initcode(e.Create.Source, e.Create.Args...)
	} else {
		a := w.Address(c.Contract)
		to = &a
		t.entity = c.Contract
	}
	nonce := uint64(w.nonces[e.Sender])
	if e.Nonce != nil {
		nonce = *e.Nonce
	}
	signed := w.signEthereum(e, to, nonce, c.Gas, c.Value, input)
	hash := signed.Hash()
	t.ethereumHash, t.parties = hash[:], []int64{e.Sender}
	created := int64(0)
	if e.Nonce != nil {
		w.rejectNonce(t, e, c, input)
	} else {
		created = w.runEthereum(t, e, c, input)
	}
	w.addEthereumRow(t, e, signed, to, c, input)
	w.commit(t)
	return created
}

// ethereumPrices returns the current gas price in weibars, and the maximum gas price of transactions of types 2
// and 4: twice as much.
func (w *World) ethereumPrices() (price, most *big.Int) {
	price = new(big.Int).Mul(big.NewInt(w.gasPrice), big.NewInt(weibar))
	return price, new(big.Int).Mul(price, big.NewInt(2))
}

// runEthereum executes the transaction in the EVM and returns the number of the created contract, or 0. It
// increments the nonce of the sender and adds the sender's payment for the gas to t.
func (w *World) runEthereum(t *Transaction, e EthereumTransaction, c Call, input []byte) int64 {
	o := outcome{sender: e.Sender, contract: c.Contract, gas: c.Gas, value: c.Value, create: e.Create}
	if e.Anonymous {
		o.aliasSender = w.Address(e.Sender).Bytes()
	}
	if e.Create == nil && e.File == 0 {
		o.input = input
	}
	// The nonce determines the addresses of created contracts.
	w.evm.state.SetNonce(w.Address(e.Sender), uint64(w.nonces[e.Sender]), tracing.NonceChangeUnspecified)
	w.nonces[e.Sender]++
	w.entities.get(e.Sender)["ethereum_nonce"] = w.nonces[e.Sender]
	id := w.execute(t, o, input)
	t.hbars(e.Sender, t.payer, t.gasUsed*w.gasPrice)
	if e.Create == nil {
		return 0
	}
	return id
}

// baseGas is the gas that a transaction without data uses before it runs.
const baseGas = 21_000

// rejectNonce makes t fail with WRONG_NONCE and adds its contract result. The sender pays the relay the base gas.
func (w *World) rejectNonce(t *Transaction, e EthereumTransaction, c Call, input []byte) {
	t.result, t.entity = codes.WrongNonce, 0
	t.hbars(e.Sender, t.payer, baseGas*w.gasPrice)
	w.addResult(t, Row{"function_parameters": input, "gas_limit": c.Gas, "amount": c.Value, "sender_id": e.Sender},
		[]int64{0, t.payer})
}

// signEthereum returns the transaction of the type that e has, signed with the key of the sender. value is in tinybars
// and becomes weibars. Signatures are deterministic. Types other than 0, 1 and 2 are signed as type 4, for which to
// must not be nil. If signing fails, it calls [World.Fail] and returns the transaction without a signature.
func (w *World) signEthereum(
	e EthereumTransaction, to *common.Address, nonce uint64, gas, value int64, input []byte,
) *types.Transaction {
	wei := new(big.Int).Mul(big.NewInt(value), big.NewInt(weibar))
	price, most := w.ethereumPrices()
	var access types.AccessList
	if e.Access && to != nil {
		access = types.AccessList{{Address: *to, StorageKeys: []common.Hash{{}, common.BigToHash(big.NewInt(2))}}}
	}
	var data types.TxData
	switch e.Type {
	case 0:
		data = &types.LegacyTx{Nonce: nonce, GasPrice: price, Gas: uint64(gas), To: to, Value: wei, Data: input}
	case 1:
		data = &types.AccessListTx{
			ChainID: big.NewInt(ChainID), Nonce: nonce, GasPrice: price, Gas: uint64(gas),
			To: to, Value: wei, Data: input, AccessList: access,
		}
	case 2:
		data = &types.DynamicFeeTx{
			ChainID: big.NewInt(ChainID), Nonce: nonce, GasTipCap: new(big.Int), GasFeeCap: most, Gas: uint64(gas),
			To: to, Value: wei,
			Data: input, AccessList: access,
		}
	default:
		data = &types.SetCodeTx{
			ChainID: uint256.NewInt(ChainID), Nonce: nonce, GasTipCap: new(uint256.Int),
			GasFeeCap: uint256.MustFromBig(most), Gas: uint64(gas),
			To: *to, Value: uint256.MustFromBig(wei), Data: input,
			AuthList: []types.SetCodeAuthorization{w.authorize(e, nonce+1)},
		}
	}
	signed, err := types.SignNewTx(ecPrivate(keyHolder(e.Sender)), types.LatestSignerForChainID(big.NewInt(ChainID)),
		data)
	if err != nil {
		w.Fail("signing an ethereum transaction: %w", err)
		return types.NewTx(data)
	}
	return signed
}

// authorize returns a signed authorization (EIP-7702) that lets the account of the sender run the code of contract
// e.Delegate. nonce is that of the account at the authorization. It stores nothing. If signing fails, it calls
// [World.Fail].
func (w *World) authorize(e EthereumTransaction, nonce uint64) types.SetCodeAuthorization {
	a, err := types.SignSetCode(ecPrivate(keyHolder(e.Sender)), types.SetCodeAuthorization{
		ChainID: *uint256.NewInt(ChainID), Address: w.Address(e.Delegate), Nonce: nonce,
	})
	if err != nil {
		w.Fail("signing an authorization: %w", err)
	}
	return a
}

// addEthereumRow adds the row of ethereum_transaction with the decoded transaction. to is nil for a creation. The row
// has no call data if a file holds it. For a transaction of type 4, it also sets the delegation address of the sender.
// If the transaction cannot be encoded, it calls [World.Fail] and adds the row nevertheless.
func (w *World) addEthereumRow(
	t *Transaction, e EthereumTransaction, signed *types.Transaction, to *common.Address, c Call, input []byte,
) {
	raw, err := signed.MarshalBinary()
	if err != nil {
		w.Fail("encoding an ethereum transaction: %w", err)
	}
	v, r, s := signed.RawSignatureValues()
	row := Row{
		"call_data": input, "call_data_id": nullIfZero(e.File),
		"chain_id": big.NewInt(ChainID).FillBytes(make([]byte, 2)), "consensus_timestamp": t.ts,
		"data": raw, "gas_limit": c.Gas, "hash": t.ethereumHash, "max_gas_allowance": int64(0),
		"nonce": int64(signed.Nonce()), "payer_account_id": t.payer,
		"signature_r": r.FillBytes(make([]byte, 32)), "signature_s": s.FillBytes(make([]byte, 32)),
		"to_address": []byte{},
		"type":       e.Type, "value": new(big.Int).Mul(big.NewInt(c.Value), big.NewInt(weibar)).Bytes(),
	}
	if to != nil {
		row["to_address"] = to.Bytes()
	}
	if e.File != 0 || input == nil {
		row["call_data"] = []byte{}
	}
	price, most := w.ethereumPrices()
	switch e.Type {
	case 0:
		row["gas_price"], row["signature_v"] = price.Bytes(), v.Bytes()
	case 1:
		row["gas_price"], row["recovery_id"] = price.Bytes(), int16(v.Int64())
	default:
		row["max_fee_per_gas"], row["max_priority_fee_per_gas"], row["recovery_id"] = most.Bytes(), []byte{},
			int16(v.Int64())
	}
	if e.Type > 0 {
		row["access_list"], _ = json.Marshal(list.Map(signed.AccessList(), func(of types.AccessTuple) accessTuple {
			return accessTuple(of)
		}))
	}
	if e.Type == 4 {
		row["authorization_list"], _ = json.Marshal(list.Map(signed.SetCodeAuthorizations(), authorizationOf))
		w.changeEntity(e.Sender, t.ts, Row{"delegation_address": w.Address(e.Delegate).Bytes()})
	}
	w.rows.add("ethereum_transaction", row)
}

// accessTuple is [types.AccessTuple] in the format of the database.
type accessTuple struct {
	Address     common.Address `json:"address"`
	StorageKeys []common.Hash  `json:"storage_keys"`
}

// authorization is [types.SetCodeAuthorization] in the format of the database.
type authorization struct {
	Address common.Address `json:"address"`
	ChainID string         `json:"chain_id"`
	Nonce   uint64         `json:"nonce"`
	R       hexutil.Bytes  `json:"r"`
	S       hexutil.Bytes  `json:"s"`
	YParity hexutil.Uint   `json:"y_parity"`
}

// authorizationOf returns an authorization in the form of the column authorization_list.
func authorizationOf(a types.SetCodeAuthorization) authorization {
	return authorization{a.Address, a.ChainID.Hex(), a.Nonce, a.R.Bytes(), a.S.Bytes(), hexutil.Uint(a.V)}
}

var (
	topicTransfer = crypto.Keccak256([]byte("Transfer(address,address,uint256)"))
	topicApproval = crypto.Keccak256([]byte("Approval(address,address,uint256)"))
)

// trim returns b without leading zero bytes, as the database stores topics and slots. The result is never nil and
// shares memory with b.
func trim(b []byte) []byte { return present(bytes.TrimLeft(b, "\x00")) }

// present returns b, or an empty slice for nil.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// number returns v as 8 big-endian bytes.
func number(v int64) []byte { return binary.BigEndian.AppendUint64(nil, uint64(v)) }

// topicAddress returns the EVM address of an account as a log topic without leading zeros. For 0, the other side
// of mints and burns, it is empty.
func (w *World) topicAddress(id int64) []byte {
	if id == 0 {
		return []byte{}
	}
	a := w.Address(id)
	return trim(a[:])
}

// addTransferLog adds the log of a fungible token transfer to the rows, as a synthetic log of t or a log of the
// contract call that caused t ([World.addTokenLog]). It moves no tokens.
func (w *World) addTransferLog(t *Transaction, token, from, to, amount int64) {
	w.addTokenLog(t, token, topicTransfer, w.topicAddress(from), w.topicAddress(to), nil, trim(number(amount)))
}

// addNFTTransferLog adds the log of an NFT transfer to the rows, as a synthetic log of t or a log of the contract call
// that caused t ([World.addTokenLog]). It moves no token.
func (w *World) addNFTTransferLog(t *Transaction, token, from, to, serial int64) {
	w.addTokenLog(t, token, topicTransfer, w.topicAddress(from), w.topicAddress(to), trim(number(serial)), []byte{})
}

// addTokenLog adds the log of a token to the rows: a synthetic one of t or, if a contract call caused t, a log of that
// call, whose bloom filter it updates. topic, the hash of the event, from and to are the first three topics, without
// leading zeros. serial is the fourth one; nil omits it.
func (w *World) addTokenLog(t *Transaction, token int64, topic, from, to, serial, data []byte) {
	root, bloom, synthetic := token, []byte{}, t.caller == nil
	if !synthetic {
		t, root = t.caller, t.called
		l := &types.Log{Address: w.Address(token)}
		for _, text := range [][]byte{topic, from, to, serial} {
			if text != nil {
				l.Topics = append(l.Topics, common.BytesToHash(text))
			}
		}
		bloom = bloomOf([]*types.Log{l})
		t.bloom = mergeBloom(slices.Clone(t.bloom), bloom)
		for _, row := range t.evmRows {
			if row["gas_limit"] != nil { // the result
				row["bloom"] = t.bloom
			}
		}
	}
	r := Row{
		"bloom": bloom, "consensus_timestamp": t.ts, "contract_id": token, "data": data, "index": t.logs,
		"topic0": topic,
		"topic1": from, "topic2": to, "payer_account_id": t.payer, "root_contract_id": root, "synthetic": synthetic,
	}
	if serial != nil {
		r["topic3"] = serial
	}
	t.logs++
	t.evmRows = append(t.evmRows, r)
	w.rows.add("contract_log", r)
}

// mergeBloom adds bloom filter b to into and returns the union. It changes the bytes of into, which may be empty.
func mergeBloom(into, b []byte) []byte {
	if len(b) == 0 {
		return into
	}
	if len(into) == 0 {
		into = make([]byte, 256)
	}
	for i := range b {
		into[i] |= b[i]
	}
	return into
}
