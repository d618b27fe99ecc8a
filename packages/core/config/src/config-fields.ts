/** Kinds of objects that hold config. */
export type ConfigKind = 'ConfigMap' | 'Secret'

/** A field of a pod's spec that names a ConfigMap or a Secret of the namespace. */
export interface ConfigField {
  readonly kind: ConfigKind
  readonly name: string
  /** Members and indices from the spec to the field: `volumes`, 0, `configMap`, `name`. */
  readonly at: readonly (string | number)[]
  /** Name of the volume; undefined for a variable of a container. */
  readonly volume?: string
  /** Whether a CSI driver gets the Secret, and no container reads it. */
  readonly isForDriver: boolean
}

/**
 * Finds every field of a spec that names config, also in init and ephemeral containers. An object may be named by several fields.
 *
 * @param spec a PodSpec; parts of a wrong type are ignored
 */
export function configFields(spec: unknown): readonly ConfigField[] {
  const { volumes, ...lists } = membersOf(spec)
  return [
    ...entriesOf(volumes).flatMap((volume, at) => volumeFields(volume, ['volumes', at])),
    ...CONTAINER_LISTS.flatMap((list) => entriesOf(lists[list]).flatMap((container, at) => environmentFields(container, [list, at]))),
  ]
}

/** Names of the volumes that a container mounts as a whole: a file of a subPath stays as it was when the container started. */
export function liveVolumes(spec: unknown): ReadonlySet<unknown> {
  const mounts = CONTAINER_LISTS.flatMap((list) => entriesOf(membersOf(spec)[list])).flatMap((one) => entriesOf(one['volumeMounts']))
  return new Set(mounts.filter(({ subPath, subPathExpr }) => !isNamed(subPath) && !isNamed(subPathExpr)).map(({ name }) => name))
}

const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers']

type Members = Readonly<Record<string, unknown>>
type Place = ConfigField['at']

function volumeFields(volume: Members, at: Place): readonly ConfigField[] {
  const of = isNamed(volume['name']) ? { volume: volume['name'] } : {}
  const sources = entriesOf(membersOf(volume['projected'])['sources'])
  const places: readonly (readonly [ConfigKind, Place])[] = [
    ['ConfigMap', [...at, 'configMap', 'name']],
    ['Secret', [...at, 'secret', 'secretName']],
    ...sources.flatMap((_source, index) => [
      ['ConfigMap', [...at, 'projected', 'sources', index, 'configMap', 'name']] as const,
      ['Secret', [...at, 'projected', 'sources', index, 'secret', 'name']] as const,
    ]),
  ]
  return [
    ...places.flatMap(([kind, place]) => field(kind, volume, place, { ...of, isForDriver: false })),
    ...field('Secret', volume, [...at, 'csi', 'nodePublishSecretRef', 'name'], { ...of, isForDriver: true }),
  ]
}

function environmentFields(container: Members, at: Place): readonly ConfigField[] {
  const whole = entriesOf(container['envFrom']).flatMap((_source, index) => [
    ['ConfigMap', [...at, 'envFrom', index, 'configMapRef', 'name']] as const,
    ['Secret', [...at, 'envFrom', index, 'secretRef', 'name']] as const,
  ])
  const single = entriesOf(container['env']).flatMap((_variable, index) => [
    ['ConfigMap', [...at, 'env', index, 'valueFrom', 'configMapKeyRef', 'name']] as const,
    ['Secret', [...at, 'env', index, 'valueFrom', 'secretKeyRef', 'name']] as const,
  ])
  return [...whole, ...single].flatMap(([kind, place]) => field(kind, container, place, { isForDriver: false }))
}

/** The first two parts of the place lead to the owner: its list and its index. */
function field(kind: ConfigKind, owner: Members, at: Place, more: Pick<ConfigField, 'volume' | 'isForDriver'>): readonly ConfigField[] {
  const name = at.slice(2).reduce<unknown>((value, part) => {
    if (typeof part === 'number') return Array.isArray(value) ? (value as readonly unknown[])[part] : undefined
    return membersOf(value)[part]
  }, owner)
  return isNamed(name) ? [{ kind, name, at, ...more }] : []
}

function isNamed(name: unknown): name is string {
  return typeof name === 'string' && name !== ''
}

function entriesOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {}
}
