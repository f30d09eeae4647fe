// Package vectors embeds Daybreak's published test vectors, so that code in any package of the module reads the same
// bytes that other implementations are given.
//
// The files are JSON; README.md beside them describes every shape. `tlock vectors DIR` runs a folder of them against a
// build.
package vectors

import "embed"

// FS holds the vector files at its root: FS.ReadFile("beacon.json").
//
//go:embed *.json
var FS embed.FS
