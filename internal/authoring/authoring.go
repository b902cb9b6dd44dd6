// Package authoring connects package tf/author with package tf. What authors of
// operations need of a graph's inside is implemented in tf, where programs do not
// see it, and offered by tf/author.
package authoring

// Face is set by package tf while the program starts, before any package that
// imports tf is initialized, and does not change. Its methods are those that
// package tf/author asks for.
var Face any
