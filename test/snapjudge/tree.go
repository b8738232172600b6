package main

import (
	"fmt"
	"sort"

	"gopkg.in/yaml.v2"
)

// node is a value as the library decodes it: a scalar, a sequence, a mapping, or null as its zero value.
type node struct {
	kind    string
	text    string
	list    []node
	members map[key]node
}

// key is a scalar key of a mapping; its zero value is null. All collections are one key.
type key struct {
	set  bool
	text string
}

func (k *key) UnmarshalYAML(unmarshal func(interface{}) error) error {
	k.set = true
	err := unmarshal(&k.text)
	if _, ok := err.(*yaml.TypeError); ok {
		k.text = "a collection"
		return nil
	}
	return err
}

func (n *node) UnmarshalYAML(unmarshal func(interface{}) error) error {
	var text string
	if err := unmarshal(&text); err == nil {
		var typed interface{}
		if err := unmarshal(&typed); err != nil {
			return err
		}
		*n = node{kind: kindOf(typed), text: text}
		return nil
	} else if _, ok := err.(*yaml.TypeError); !ok {
		return err
	}
	var list []node
	if err := unmarshal(&list); err == nil {
		*n = node{kind: "list", list: list}
		return nil
	} else if _, ok := err.(*yaml.TypeError); !ok {
		return err
	}
	members := map[key]node{}
	*n = node{kind: "mapping", members: members}
	return unmarshal(&members)
}

func kindOf(value interface{}) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "bool"
	case int, int64, uint64:
		return "int"
	case float64:
		return "float"
	}
	panic(fmt.Sprintf("a scalar of type %T", value))
}

func (n node) value() interface{} {
	switch n.kind {
	case "":
		return nil
	case "list":
		list := make([]interface{}, len(n.list))
		for i, item := range n.list {
			list[i] = item.value()
		}
		return list
	case "mapping":
		pairs := make([][2]interface{}, 0, len(n.members))
		for k, member := range n.members {
			var name interface{}
			if k.set {
				name = k.text
			}
			pairs = append(pairs, [2]interface{}{name, member.value()})
		}
		sort.Slice(pairs, func(i, j int) bool { return fmt.Sprint(pairs[i][0]) < fmt.Sprint(pairs[j][0]) })
		return map[string]interface{}{"mapping": pairs}
	}
	return map[string]interface{}{"type": n.kind, "text": n.text}
}

func readYaml(text string) (interface{}, error) {
	var n node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		return nil, err
	}
	return n.value(), nil
}
