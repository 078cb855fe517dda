package abi

// Identifiers returns the selectors and hashes of the declarations of a.
func (a *ABI) Identifiers() (out []string) {
	for key, list := range a.declared {
		out = append(out, key[len(list[0].kind):])
	}
	return out
}
