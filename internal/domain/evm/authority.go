package evm

import (
	"strings"

	"github.com/ethereum/go-ethereum/core/types"
	"github.com/holiman/uint256"

	"heliograph/internal/domain/ledger"
)

// Authority returns the account that signed an EIP-7702 authorization for the network with the given chain ID or for
// any network, and its nonce. ok reports whether the authorization is valid; otherwise the other results must not be
// used. It recovers the signer from the signature and reads nothing, so it does not compare the nonce with that of the
// account.
func Authority(a *ledger.Authorization, chainID uint64) (signer ledger.EVMAddress, nonce int64, ok bool) {
	number := func(text ledger.Null[string]) (v uint256.Int, ok bool) {
		digits := strings.TrimLeft(ledger.TrimHexPrefix(text.V), "0")
		if digits == "" {
			return v, text.Valid
		}
		return v, v.SetFromHex("0x"+digits) == nil
	}
	chain, knowsChain := number(a.ChainID)
	r, hasR := number(a.R)
	s, hasS := number(a.S)
	parity, hasParity := number(a.YParity)
	delegate, err := ledger.ParseHex(a.Address.V)
	address, isAddress := ledger.EVMAddressOf(delegate)
	isSigned := knowsChain && hasR && hasS && hasParity && parity.IsUint64() && parity.Uint64() <= 1
	if !isSigned || err != nil || !isAddress || !a.Nonce.Valid {
		return signer, 0, false
	}
	if !chain.IsZero() && (!chain.IsUint64() || chain.Uint64() != chainID) {
		return signer, 0, false
	}
	signed := types.SetCodeAuthorization{
		ChainID: chain, Address: [20]byte(address), Nonce: uint64(a.Nonce.V), V: uint8(parity.Uint64()), R: r, S: s,
	}
	by, err := signed.Authority()
	return ledger.EVMAddress(by), a.Nonce.V, err == nil
}
