package evm

// Journal has the undo functions of the changes of a simulation. Reverting a frame runs them. Code that keeps its own data, such as the [Overlay] of a
// system contract, must register an undo function for each change.
type Journal struct {
	undos []func()
}

// Append registers the undo function of a change.
func (j *Journal) Append(undo func()) { j.undos = append(j.undos, undo) }

// len returns the current position, for revert.
func (j *Journal) len() int { return len(j.undos) }

// revert undoes all changes since a position, newest first.
func (j *Journal) revert(to int) {
	for i := len(j.undos) - 1; i >= to; i-- {
		j.undos[i]()
	}
	clear(j.undos[to:])
	j.undos = j.undos[:to]
}

// set assigns a value and registers its undo function.
func set[T any](j *Journal, at *T, value T) {
	old := *at
	j.Append(func() { *at = old })
	*at = value
}

// setKey assigns a map entry and registers its undo function.
func setKey[K comparable, V any](j *Journal, m map[K]V, key K, value V) {
	old, had := m[key]
	j.Append(func() {
		if had {
			m[key] = old
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
