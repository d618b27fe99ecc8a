import { type ConfigField, configFields } from '../config-fields.ts'
import { type ConfigReference, configReferences } from '../config-references.ts'
import { hasContentHash } from '../has-content-hash.ts'
import type { ConfigObject } from '../judge-config.ts'
import { fieldBeyondLimits } from './pin-limits.ts'
import { isPinnedObject } from './pinned-objects.ts'
import { pinKey } from './pins.ts'

/**
 * What `config: Pin` does with an object, as far as the template alone says it.
 * - `pinned`: pods read a copy.
 * - `secret`: pods read a copy where the installation lets Tranche copy Secrets of the namespace.
 * - `driver`: a CSI driver gets the Secret that the user names, so it stays as it is.
 * - `optional`: it need not exist, and pods read a copy only after it exists. Its creation is a release.
 * - `beyond`: no copy can be named at the place of the field, so the release holds.
 */
export type PinProspect = 'pinned' | 'secret' | 'driver' | 'optional' | 'beyond'

/** An object of a template, and what pinning does with it. */
export interface PinProspectOf extends Pick<ConfigReference, 'kind' | 'name' | 'path'> {
  readonly prospect: PinProspect
}

/**
 * Reports what pinning does with each object that a template reads, without those whose names carry a hash: they are versioned already.
 *
 * @param template a PodTemplateSpec; parts of a wrong type are ignored
 * @param exists whether an object is known to exist, or to be applied with the template
 */
export function pinProspects(template: unknown, exists: (object: ConfigObject) => boolean): readonly PinProspectOf[] {
  const { spec } = (template ?? {}) as { readonly spec?: unknown }
  const fields = configFields(spec)
  return configReferences(template).flatMap(({ kind, name, path }): readonly PinProspectOf[] => {
    const object = { kind, name }
    if (hasContentHash(name)) return []
    if (!isPinnedObject(template, object)) return [{ ...object, path, prospect: 'driver' }]
    const beyond = fieldBeyondLimits(spec, new Map([[pinKey(object), name]]))
    if (beyond !== null) return [{ ...object, path: `spec.template.${beyond}`, prospect: 'beyond' }]
    const own = fields.filter((field) => !field.isForDriver && pinKey(field) === pinKey(object))
    if (own.every((field) => isOptional(spec, field)) && !exists(object)) return [{ ...object, path, prospect: 'optional' }]
    return [{ ...object, path, prospect: kind === 'Secret' ? 'secret' : 'pinned' }]
  })
}

/** Whether pods start without the object of this field. The field `optional` is beside the name. */
function isOptional(spec: unknown, { at }: ConfigField): boolean {
  return [...at.slice(0, -1), 'optional'].reduce<unknown>((value, part) => (value as never)?.[part as never], spec) === true
}
