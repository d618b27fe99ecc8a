import type { ApiObject } from '../client.ts'

const texts = new WeakMap<object, string>()

/** @returns the object as JSON; made once for each object the store hands out, because those never change */
export function objectText(object: ApiObject): string {
  return `{"kind":${JSON.stringify(object.kind)},"apiVersion":${JSON.stringify(object.apiVersion)},${itemText(object).slice(1)}`
}

/** @returns the object as JSON without `kind` and `apiVersion`, as items of built-in lists stand */
export function itemText(object: ApiObject): string {
  let text = texts.get(object)
  if (text === undefined) {
    const { kind: _kind, apiVersion: _apiVersion, ...rest } = object
    text = JSON.stringify(rest)
    texts.set(object, text)
  }
  return text
}
