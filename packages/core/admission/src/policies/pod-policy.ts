import { type ConfigKind, PIN_LIMITS, PINNED_CONFIG_ANNOTATION } from '@tranche/config'
import { mutatingPolicy, type PolicyObject, type PolicyScope } from './policy-objects.ts'

/** Two indices as one number: CEL has no loop over the places of a list, so the places are a list themselves. */
const PLACES = Math.max(PIN_LIMITS.volumes * PIN_LIMITS.sources, PIN_LIMITS.containers * PIN_LIMITS.entries)

const annotation = `object.metadata.annotations['${PINNED_CONFIG_ANNOTATION}']`

const scope: PolicyScope = {
  name: 'pods',
  operations: ['CREATE'],
  group: '',
  version: 'v1',
  resource: 'pods',
  conditions: [
    { name: 'pinned', expression: `'${PINNED_CONFIG_ANNOTATION}' in object.metadata.?annotations.orValue({})` },
    {
      name: 'of-a-daemonset',
      expression:
        "object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'DaemonSet' && owner.apiVersion.startsWith('apps/'))",
    },
  ],
  variables: [
    { name: 'pins', expression: `${annotation}.split(',')` },
    { name: 'places', expression: `[${Array.from({ length: PLACES }, (_, at) => at).join(', ')}]` },
    { name: 'volumes', expression: 'object.spec.?volumes.orValue([])' },
    { name: 'initContainers', expression: 'object.spec.?initContainers.orValue([])' },
    { name: 'containers', expression: 'object.spec.?containers.orValue([])' },
    // A pod uses few of the places, and each term below looks at every place that it is given.
    { name: 'volumePlaces', expression: 'variables.places.filter(at, at < variables.volumes.size())' },
    { name: 'sourcePlaces', expression: `variables.places.filter(at, at < ${PIN_LIMITS.sources} * variables.volumes.size())` },
    {
      name: 'initContainersPlaces',
      expression: `variables.places.filter(at, at < ${PIN_LIMITS.entries} * variables.initContainers.size())`,
    },
    { name: 'containersPlaces', expression: `variables.places.filter(at, at < ${PIN_LIMITS.entries} * variables.containers.size())` },
  ],
}

/** Replaces the names of config in pods of a DaemonSet by those of their copies, as {@link pinPatch} does, in the API server itself. */
export const podPolicy: readonly PolicyObject[] = mutatingPolicy(
  scope,
  [
    volumeTerm('ConfigMap', 'configMap', 'name'),
    volumeTerm('Secret', 'secret', 'secretName'),
    sourceTerm('ConfigMap', 'configMap'),
    sourceTerm('Secret', 'secret'),
    ...['initContainers', 'containers'].flatMap((list) => [
      entryTerm(list, 'ConfigMap', { entries: 'envFrom', path: ['configMapRef'] }),
      entryTerm(list, 'Secret', { entries: 'envFrom', path: ['secretRef'] }),
      entryTerm(list, 'ConfigMap', { entries: 'env', path: ['valueFrom', 'configMapKeyRef'] }),
      entryTerm(list, 'Secret', { entries: 'env', path: ['valueFrom', 'secretKeyRef'] }),
    ]),
  ].join(' +\n'),
)

function volumeTerm(kind: ConfigKind, member: string, name: string): string {
  return term(kind, {
    places: 'volumePlaces',
    isPlace: 'true',
    value: `variables.volumes[at].?${member}.?${name}`,
    path: `'/spec/volumes/' + string(at) + '/${member}/${name}'`,
  })
}

function sourceTerm(kind: ConfigKind, member: string): string {
  const [volume, source] = [`at / ${PIN_LIMITS.sources}`, `at % ${PIN_LIMITS.sources}`]
  const sources = `variables.volumes[${volume}].?projected.?sources.orValue([])`
  return term(kind, {
    places: 'sourcePlaces',
    isPlace: `${source} < ${sources}.size()`,
    value: `${sources}[${source}].?${member}.?name`,
    path: `'/spec/volumes/' + string(${volume}) + '/projected/sources/' + string(${source}) + '/${member}/name'`,
  })
}

interface EntryPlace {
  /** List of the container. */
  readonly entries: string
  /** Members from an entry to the reference. */
  readonly path: readonly string[]
}

function entryTerm(list: string, kind: ConfigKind, { entries, path }: EntryPlace): string {
  const [container, entry] = [`at / ${PIN_LIMITS.entries}`, `at % ${PIN_LIMITS.entries}`]
  const own = `variables.${list}[${container}].?${entries}.orValue([])`
  return term(kind, {
    places: `${list}Places`,
    isPlace: `${entry} < ${own}.size()`,
    value: `${own}[${entry}]${path.map((member) => `.?${member}`).join('')}.?name`,
    path: `'/spec/${list}/' + string(${container}) + '/${entries}/' + string(${entry}) + '/${path.join('/')}/name'`,
  })
}

interface Term {
  /** Variable with the places of its list. */
  readonly places: string
  /** Whether there is an item at `at`. */
  readonly isPlace: string
  /** Name at that place, as an optional. */
  readonly value: string
  /** Path of the field for the patch. */
  readonly path: string
}

function term(kind: ConfigKind, { places, isPlace, value, path }: Term): string {
  const pinsOfPlace = `variables.pins.filter(pin, pin.startsWith('${kind}/' + ${value}.orValue('') + '='))`
  return `variables.${places}.filter(at, ${isPlace} && ${value}.orValue('') != '' && ${pinsOfPlace}.size() > 0)
  .map(at, JSONPatch{op: 'replace', path: ${path}, value: ${pinsOfPlace}[0].split('=')[1]})`
}
