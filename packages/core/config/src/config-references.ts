import { type ConfigField, configFields, type ConfigKind, liveVolumes } from './config-fields.ts'

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
  const { spec } = (template ?? {}) as { readonly spec?: unknown }
  const live = liveVolumes(spec)
  const found = configFields(spec).filter((one) => !isWrittenByTheCluster(one))
  const reachOf = ({ volume, isForDriver }: ConfigField): ConfigReference['reach'] =>
    volume !== undefined && !isForDriver && live.has(volume) ? 'running' : 'restart'
  const byObject = Map.groupBy(found, ({ kind, name }) => `${kind} ${name}`)
  return [...byObject.values()].flatMap((alike) => {
    const [first] = alike
    if (first === undefined) return []
    const reach = alike.some((one) => reachOf(one) === 'running') ? 'running' : 'restart'
    return [{ kind: first.kind, name: first.name, path: pathOf(first), reach } as const]
  })
}

/** Whether it is a certificate authority of the cluster, which controllers write into every namespace. */
export function isWrittenByTheCluster({ kind, name }: Pick<ConfigField, 'kind' | 'name'>): boolean {
  return kind === 'ConfigMap' && (name === 'kube-root-ca.crt' || name === 'openshift-service-ca.crt')
}

function pathOf({ at }: ConfigField): string {
  return at.reduce<string>((path, part) => (typeof part === 'number' ? `${path}[${part}]` : `${path}.${part}`), 'spec.template.spec')
}
