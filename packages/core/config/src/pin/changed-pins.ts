import { pinsOf } from './pinned-objects.ts'

/**
 * Objects whose copy differs between two templates, such as `ConfigMap agent`. A template that pins an object which the other does not pin
 * changes no content.
 *
 * @param before a PodTemplateSpec
 * @param after a PodTemplateSpec
 */
export function changedPins(before: unknown, after: unknown): readonly string[] {
  const pinned = pinsOf(before)
  return [...pinsOf(after)].flatMap(([key, copy]) => {
    const known = pinned.get(key)
    return known === undefined || known === copy ? [] : [key.replace('/', ' ')]
  })
}
