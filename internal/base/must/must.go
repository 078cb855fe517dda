// Package must ends a function at its first error: [Do] and [Get] return from the innermost [Run].
package must

// failure is the value of a panic that [Run] recovers.
type failure struct{ err error }

// Do ends the function that [Run] calls if err is not nil. Only that function and those that it calls in the same goroutine may use it.
func Do(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Get returns a result, or is like [Do] if there is an error.
func Get[T any](result T, err error) T {
	Do(err)
	return result
}

// Run calls a function, and returns its error or the one that ended it. Other panics continue.
func Run(f func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.err
		default:
			panic(p)
		}
	}()
	return f()
}
