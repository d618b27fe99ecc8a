/** Kinds of objects that hold config. */
export type ConfigKind = 'ConfigMap' | 'Secret'

/** Reference of a pod template to a ConfigMap or a Secret of its namespace. */
export interface ConfigReference {
  readonly kind: ConfigKind
  readonly name: string
  /** Path of the first field that names it: `spec.template.spec.volumes[0].configMap.name`. */
  readonly path: string
  /**
   * How a change of the object reaches pods of any revision.
   * - `running`: the kubelet updates the mounted files.
   * - `restart`: a container reads it when it starts, as environment variables or through a subPath.
   */
  readonly reach: 'running' | 'restart'
}

/**
 * Finds every ConfigMap and Secret whose content containers of a template read, init and ephemeral containers too. Looks at volumes,
 * projected volumes, `envFrom` and `env`, and at the Secret that a CSI driver gets to publish a volume. Lists each object once.
 *
 * Not included: pull secrets, Secrets that only the kubelet uses to mount a remote disk, and objects that the cluster itself writes into
 * every namespace.
 *
 * @param template a PodTemplateSpec; parts of a wrong type are ignored
 */
export function configReferences(template: unknown): readonly ConfigReference[] {
  const spec = membersOf(membersOf(template)['spec'])
  const containers = CONTAINER_LISTS.flatMap((list) =>
    entriesOf(spec[list]).map((container, at) => ({ container, path: `${TEMPLATE}.${list}[${at}]` })),
  )
  const live = liveVolumes(containers.map(({ container }) => container))
  const found = [
    ...entriesOf(spec['volumes']).flatMap((volume, at) => {
      const reach = live.has(volume['name']) ? 'running' : 'restart'
      return volumeReferences(volume, { path: `${TEMPLATE}.volumes[${at}]`, reach })
    }),
    ...containers.flatMap(({ container, path }) => environmentReferences(container, path)),
  ].filter(({ kind, name }) => kind !== 'ConfigMap' || !WRITTEN_BY_THE_CLUSTER.has(name))
  const byObject = Map.groupBy(found, ({ kind, name }) => `${kind} ${name}`)
  return [...byObject.values()].flatMap((alike) => {
    const first = alike[0]
    if (first === undefined) return []
    return [{ ...first, reach: alike.some(({ reach }) => reach === 'running') ? 'running' : 'restart' } as const]
  })
}

const TEMPLATE = 'spec.template.spec'
const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers']
/** The certificate authorities of the cluster, which controllers write into every namespace. */
const WRITTEN_BY_THE_CLUSTER: ReadonlySet<string> = new Set(['kube-root-ca.crt', 'openshift-service-ca.crt'])

type Members = Readonly<Record<string, unknown>>

/** Names of the volumes that a container mounts as a whole: a file of a subPath stays as it was when the container started. */
function liveVolumes(containers: readonly Members[]): ReadonlySet<unknown> {
  const mounts = containers.flatMap((container) => entriesOf(container['volumeMounts']))
  return new Set(mounts.filter(({ subPath, subPathExpr }) => !isNamed(subPath) && !isNamed(subPathExpr)).map(({ name }) => name))
}

function volumeReferences(volume: Members, { path, reach }: Pick<ConfigReference, 'path' | 'reach'>): readonly ConfigReference[] {
  const sources = entriesOf(membersOf(volume['projected'])['sources'])
  return [
    ...reference('ConfigMap', membersOf(volume['configMap'])['name'], { path: `${path}.configMap.name`, reach }),
    ...reference('Secret', membersOf(volume['secret'])['secretName'], { path: `${path}.secret.secretName`, reach }),
    ...sources.flatMap((source, at) => [
      ...reference('ConfigMap', membersOf(source['configMap'])['name'], { path: `${path}.projected.sources[${at}].configMap.name`, reach }),
      ...reference('Secret', membersOf(source['secret'])['name'], { path: `${path}.projected.sources[${at}].secret.name`, reach }),
    ]),
    ...reference('Secret', membersOf(membersOf(volume['csi'])['nodePublishSecretRef'])['name'], {
      path: `${path}.csi.nodePublishSecretRef.name`,
      reach: 'restart',
    }),
  ]
}

function environmentReferences(container: Members, path: string): readonly ConfigReference[] {
  const whole = entriesOf(container['envFrom']).flatMap((source, at) => [
    ...reference('ConfigMap', membersOf(source['configMapRef'])['name'], read(`${path}.envFrom[${at}].configMapRef.name`)),
    ...reference('Secret', membersOf(source['secretRef'])['name'], read(`${path}.envFrom[${at}].secretRef.name`)),
  ])
  const single = entriesOf(container['env']).flatMap((variable, at) => {
    const { configMapKeyRef, secretKeyRef } = membersOf(variable['valueFrom'])
    const of = `${path}.env[${at}].valueFrom`
    return [
      ...reference('ConfigMap', membersOf(configMapKeyRef)['name'], read(`${of}.configMapKeyRef.name`)),
      ...reference('Secret', membersOf(secretKeyRef)['name'], read(`${of}.secretKeyRef.name`)),
    ]
  })
  return [...whole, ...single]
}

function read(path: string): Pick<ConfigReference, 'path' | 'reach'> {
  return { path, reach: 'restart' }
}

function reference(kind: ConfigKind, name: unknown, place: Pick<ConfigReference, 'path' | 'reach'>): readonly ConfigReference[] {
  return isNamed(name) ? [{ kind, name, ...place }] : []
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
