//go:build unix

package embedded

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// identity is the user that the server runs as.
type identity struct {
	name string
	cred *syscall.Credential // nil means the user of this process
}

// chooseIdentity returns the user that runs the server on data, a folder that need not exist. It is the user of this
// process; if another user owns the data, chooseIdentity fails. PostgreSQL refuses to run as root: if this process
// runs as root, the user is the owner of the data, or else postgres or nobody.
func chooseIdentity(data string) (identity, error) {
	uid := os.Geteuid()
	var owner syscall.Stat_t
	switch err := syscall.Stat(data, &owner); {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return identity{}, fmt.Errorf("looking at the data %s: %w", data, err)
	case uid != 0 && err == nil && int(owner.Uid) != uid:
		return identity{}, fmt.Errorf("%s belongs to user %s: run as that user or as root", data, userName(owner.Uid))
	case uid != 0:
		return identity{name: userName(uint32(uid))}, nil
	case err == nil && owner.Uid != 0:
		return identity{userName(owner.Uid), &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		var cred syscall.Credential
		_, err = fmt.Sscan(u.Uid+" "+u.Gid, &cred.Uid, &cred.Gid)
		if err != nil {
			return identity{}, fmt.Errorf("user %s: %w", name, err)
		}
		return identity{name, &cred}, nil
	}
	return identity{},
		errors.New("PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody " +
			"to run it as: run the gateway as an ordinary user")
}

// userName looks up a user of the system by number and returns the name, or the number if there is none.
func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}

// privateDir creates dir, if missing, with access only for its owner. If this process runs as another user than the
// server, it makes the server's user the owner. An existing folder keeps its mode. It does not follow a symbolic link,
// which the server's user could have put there to get another folder.
func (id identity) privateDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is not a folder; symbolic links are not followed", dir))
	}
	if id.cred == nil {
		return nil
	}
	return os.Lchown(dir, int(id.cred.Uid), int(id.cred.Gid))
}

// explain describes the error of starting a program in a folder, if this process cannot switch to the server's user,
// or that user cannot access the folder or the programs. Other errors are returned unchanged.
func (id identity) explain(err error, dir, programs string) error {
	switch {
	case id.cred == nil:
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("PostgreSQL refuses to run as root, and this process is not allowed to start it as user %s "+
			"(the capabilities SETUID and SETGID are missing): run the gateway as an ordinary user", id.name)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("user %s, who runs PostgreSQL because root may not, cannot reach %s or %s: choose folders "+
			"that are open to this user, or allow it with chmod o+x for each folder above them", id.name, dir, programs)
	}
	return err
}

// serverEnv returns the environment of the server's programs. It excludes PG… variables, the locale and the gateway's
// secrets.
func serverEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
