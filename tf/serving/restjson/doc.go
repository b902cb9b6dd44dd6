// Package restjson translates between the JSON of TensorFlow Serving's REST API
// and tensors. It does no I/O.
//
// Texts and rules are TensorFlow Serving's: how numbers become the elements of a
// type, what is refused, and how numbers are written. It differs where TensorFlow
// Serving would lose data or answer with what is no JSON: integers that do not fit
// their type are refused, and so are arrays nested deeper than tensors can be;
// strings that are not UTF-8 are written as {"b64": …}.
package restjson
