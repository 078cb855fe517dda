package rest

import (
	"strconv"
	"strings"
)

// The placeholders of OpenAPI documents for values that are not known at build time.
const (
	VersionPlaceholder      = "GATEWAY_VERSION"
	LimitDefaultPlaceholder = "LIMIT_DEFAULT"
	MaxRepeatsPlaceholder   = "MAX_REPEATS"
)

// FillOpenAPI replaces the placeholders of an OpenAPI document, in JSON or YAML, by the settings and the version of the gateway.
func (c *Config) FillOpenAPI(document, version string) []byte {
	limit, repeats, version := strconv.Itoa(c.LimitDefault), strconv.Itoa(c.MaxRepeats), strconv.Quote(version)
	return []byte(strings.NewReplacer(
		`"`+VersionPlaceholder+`"`, version, VersionPlaceholder, version,
		`"`+LimitDefaultPlaceholder+`"`, limit, LimitDefaultPlaceholder, limit,
		`"`+MaxRepeatsPlaceholder+`"`, repeats, MaxRepeatsPlaceholder, repeats,
	).Replace(document))
}
