package ledger

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Candidates are the things that a text can name. Fields are empty for what it cannot name.
type Candidates struct {
	Entity      EntityID
	Address     Null[EVMAddress] // not long-zero: that is Entity
	Alias       Alias
	PublicKey   string // a raw key in lower-case hex
	Hash        Hash   // of a transaction or block
	Transaction Null[TransactionID]
	At          Null[Timestamp] // of a transaction
	Number      Null[int64]     // of a block or node
	Element     Element         // an NFT or a message
	Name        string          // the start of a token's name
}

// publicKey matches raw public keys and their encodings as SubjectPublicKeyInfo: an Ed25519 key, or a compressed
// secp256k1 key.
var publicKey = regexp.MustCompile(`^(?:0x)?(?:(?:302a300506032b6570032100)?([0-9a-f]{64})|` +
	`(?:302d300706052b8104000a032200|3036301006072a8648ce3d020106052b8104000a032200)?(0[23][0-9a-f]{64}))$`)

// ParseSearch returns what the text of the field Query.search can name. It reads no database, so the candidates may
// not exist. Ids without shard or realm get those of base. A checksum after an id must be that of the network with the
// given chain id. A text that names nothing gives no candidates. The first of these that the text can be is the only
// candidate: a transaction id, an id with a checksum, an NFT or message, a time, an address, an id, an alias. Digits
// alone are a number beside the id. They, and other texts, can also be an alias in lower case, a hash and a public
// key, or else the start of a name.
func ParseSearch(text string, base EntityID, chainID uint64) (t Candidates) {
	text = strings.TrimSpace(text)
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return t
	}
	text = respelled(text, base)
	name, _, _ := strings.Cut(text, "?") // the SDKs append "?scheduled" and "/nonce" to transaction ids
	name, _, _ = strings.Cut(name, "/")
	if id, err := ParseAnyTransactionID(name); err == nil {
		t.Transaction = Of(id)
		return t
	}
	if at := strings.LastIndexAny(text, "-/#:@"); at > 0 {
		id, err := ParseEntityID(text[:at], base)
		rest := text[at+1:]
		number, failed := parseDigits(rest, 18)
		switch {
		case err != nil:
		case text[at] == '-' && rest != "" && rest == id.Checksum(chainID):
			t.Entity = id
			return t
		case failed == nil:
			t.Element = Element{id, number}
			return t
		case text[at] == '-' && strings.Contains(text[:at], "."):
			return t
		}
	}
	if number, err := parseDigits(text, 18); err == nil {
		t.Number = Of(number)
	}
	at, notTime := ParseTimestamp(text)
	ref, err := ParseAccountRef(text, base)
	switch {
	case err != nil && notTime == nil && strings.Contains(text, "."):
		t.At = Of(at)
		return t
	case err != nil:
	case ref.Address.Valid:
		t.Address = ref.Address
		return t
	case ref.Alias == nil:
		if t.Entity = ref.ID; !t.Number.Valid {
			return t
		}
	case isAlias(ref.Alias):
		t.Alias = ref.Alias
		return t
	}
	// An alias in lower case, which can be a name too.
	if ref, err := ParseAccountRef(strings.ToUpper(text), base); err == nil && isAlias(ref.Alias) {
		t.Alias = ref.Alias
	}
	const maxName = 100
	t.parseBytes(text)
	if t.Hash == nil && t.PublicKey == "" && len(text) <= maxName && word.MatchString(text) {
		t.Name = text
	}
	return t
}

// respelled returns a text without the spellings that only other programs use: "0X" becomes "0x", and the shard and
// realm of the ledger, or its realm alone, are removed before a public key, or before an address or alias with "0x".
func respelled(text string, base EntityID) string {
	shard, realm := strconv.FormatInt(base.Shard(), 10), strconv.FormatInt(base.Realm(), 10)
	for _, prefix := range []string{shard + "." + realm + ".", realm + "."} {
		rest, ok := strings.CutPrefix(text, prefix)
		if lower := strings.ToLower(rest); ok && (publicKey.MatchString(lower) || strings.HasPrefix(lower, "0x")) {
			text = rest
			break
		}
	}
	if digits, ok := strings.CutPrefix(text, "0X"); ok {
		return "0x" + digits
	}
	return text
}

// parseBytes sets t.Hash and t.PublicKey if the search text can be a hash or a public key. It can be both.
func (t *Candidates) parseBytes(text string) {
	if m := publicKey.FindStringSubmatch(strings.ToLower(text)); m != nil {
		t.PublicKey = m[1] + m[2]
	}
	hash, err := ParseHash(text)
	if err != nil {
		hash, _ = ParseTransactionHash(text)
	}
	t.Hash = hash
}

// isAlias reports whether an account can have the alias: an address, or a primitive key, which is encoded with two
// bytes before it and not in a list.
func isAlias(a Alias) bool {
	typ, key := Key(a).Decode()
	return len(a) == len(EVMAddress{}) || typ != KeyProtobufEncoded && len(a) == len(key)+2
}

// word matches what the index of token names needs: three letters or digits in a row.
var word = regexp.MustCompile(`[\pL\pN]{3}`)

// mainChain is the chain id of the main network, whose ledger id is 0. Those of the two public test networks and of
// local networks follow in both numberings.
const mainChain = 295

// Checksum returns the checksum of an id as HIP-15 defines it: five letters that depend on the network with the given
// chain id. It is empty if the ledger id of the network is unknown.
func (id EntityID) Checksum(chainID uint64) string {
	if chainID < mainChain || chainID > mainChain+3 {
		return ""
	}
	const three, five, factor = 26 * 26 * 26, 26 * 26 * 26 * 26 * 26, 31
	text := id.String()
	sum, sums, network := 0, [2]int{}, int(chainID-mainChain)
	for i, c := range text {
		digit := strings.IndexRune("0123456789.", c)
		sum, sums[i%2] = (sum*factor+digit)%three, (sums[i%2]+digit)%11
	}
	for range 6 { // six zero bytes follow the ledger id
		network = network * factor % five
	}
	check := ((((len(text)%5)*11+sums[0])*11+sums[1])*three + sum + network) % five * 1000003 % five
	letters := make([]byte, 5)
	for i := range letters {
		letters[len(letters)-1-i], check = byte('a'+check%26), check/26
	}
	return string(letters)
}
