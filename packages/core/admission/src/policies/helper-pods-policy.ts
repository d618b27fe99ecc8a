import { type HelperManifest, helperManifest } from '@tranche/pre-pull'
import { celList, celText, type PolicyObject, validatingPolicy, type Validation } from './policy-objects.ts'

/** User name in the policy for the account of the executors: the chart writes the name of its own there. */
export const EXECUTOR_ACCOUNT = 'system:serviceaccount:NAMESPACE:EXECUTOR'

const START = 'executors of Tranche create only helper pods of prePull, in which nothing runs: '

/** A helper pod with every field that one may have. The policy is made from it, so the two always agree. */
const example = exampleOf()
const [container] = example.spec['containers'] as readonly [Container]

/**
 * What the API server writes into a new pod before policies see it: defaults, the account, LimitRanges, the zone of the node, and a default
 * PriorityClass. A RuntimeClass sets the overhead, and like the namespace a selector of nodes.
 */
const added = {
  labels: ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'],
  annotations: ['kubernetes.io/limit-ranger'],
  pod: ['serviceAccount', 'schedulerName', 'dnsPolicy', 'priority', 'priorityClassName', 'preemptionPolicy', 'overhead', 'nodeSelector'],
  container: ['terminationMessagePath', 'terminationMessagePolicy', 'resizePolicy'],
}

/** Lowest priority for which a kubelet evicts other pods. @see pkg/apis/scheduling SystemCriticalPriority */
const CRITICAL = 2_000_000_000

/** Values that are the same in each helper pod. The others depend on the template, or are limited below. */
const sameInEachPod = ['restartPolicy', 'terminationGracePeriodSeconds', 'automountServiceAccountToken', 'enableServiceLinks']

/**
 * Limits the right of executors to create pods (`rbac.prePull`) to helper pods, field by field: whatever {@link helperManifest} never writes is
 * rejected, also a field of a later version of Kubernetes. Nothing ever runs in these pods, because a kubelet refuses to create a container that
 * must not be root and is root. Pods of a mesh, which get a container from a webhook, are rejected as well: that one would run.
 *
 * Free are the name of the node, the images, the account, the pull secrets, the RuntimeClass and the network of the node: the template decides
 * about them. A pod of any priority below that of the system takes no place from others, because it requests nothing and no scheduler sees it.
 */
export const helperPodsPolicy: readonly PolicyObject[] = validatingPolicy(
  {
    name: 'helper-pods',
    operations: ['CREATE'],
    group: '',
    version: 'v1',
    resource: 'pods',
    conditions: [{ name: 'executors', expression: `request.userInfo.username == '${EXECUTOR_ACCOUNT}'` }],
    variables: [],
  },
  'Deny',
  [...metadataRules(), ...podRules(), ...containerRules()],
)

type Fields = Readonly<Record<string, unknown>>

type Container = Fields & {
  readonly command: readonly string[]
  readonly resources: { readonly requests: Fields }
  readonly securityContext: Fields & { readonly capabilities: { readonly drop: readonly string[] } }
}

function exampleOf(): HelperManifest {
  const pulling = { serviceAccountName: 'a', imagePullSecrets: [{ name: 'a' }], runtimeClassName: 'a', hostNetwork: true }
  const spec = { containers: [{ image: 'a' }], ...pulling }
  const release = { name: 'a', uid: 'a' }
  return helperManifest({ daemonSet: { namespace: 'a', name: 'a' }, template: { spec }, revision: 'a', release, seenAt: 'a', node: 'a' })!
}

function metadataRules(): readonly Validation[] {
  const { labels, annotations, ownerReferences } = example.metadata
  const [owner] = ownerReferences as readonly [HelperManifest['metadata']['ownerReferences'][number]]
  // A pod with the name of a pod of a StatefulSet would keep that one away.
  const isNamed = "object.metadata.name.matches('-pull-[0-9a-f]{10}$')"
  return [
    ...Object.keys(labels).map((key) => only(`'${key}' in object.metadata.?labels.orValue({})`, `the label ${key} is missing`)),
    onlyFields('object.metadata.?labels.orValue({})', [...Object.keys(labels), ...added.labels], 'it has other labels'),
    onlyFields('object.metadata.?annotations.orValue({})', [...Object.keys(annotations), ...added.annotations], 'it has other annotations'),
    only(`object.metadata.?finalizers.orValue([]).size() == 0 && ${isNamed}`, 'it has finalizers, or the name of another pod'),
    only(
      `object.metadata.?ownerReferences.orValue([]).size() == 1 && object.metadata.ownerReferences.all(owner, owner.kind == '${owner.kind}' && owner.apiVersion.startsWith('rollouts.kruise.io/') && owner.?controller.orValue(false) && !owner.?blockOwnerDeletion.orValue(false))`,
      'no BatchRelease owns it, or another object does',
    ),
  ]
}

function podRules(): readonly Validation[] {
  const { spec } = example
  return [
    onlyFields('dyn(object.spec)', [...Object.keys(spec), ...added.pod], 'it has fields that no helper pod has'),
    ...sameInEachPod.map((field) => same('object.spec', field, spec[field])),
    only("object.spec.?nodeName.orValue('') != ''", 'it names no node, and a scheduler would see it'),
    onlyFields(
      'dyn(object.spec).?securityContext.orValue({})',
      Object.keys(spec['securityContext'] as Fields),
      'its securityContext has other fields',
    ),
    same('object.spec.?securityContext.?seccompProfile', 'type', 'RuntimeDefault'),
    only(`object.spec.?priority.orValue(0) < ${CRITICAL}`, 'it has a priority for which kubelets evict other pods'),
    only('!dyn(object.spec).?overhead.hasValue() || object.spec.?runtimeClassName.hasValue()', 'it has an overhead and no RuntimeClass'),
  ]
}

function containerRules(): readonly Validation[] {
  const { resources, securityContext } = container
  const { capabilities, ...flags } = securityContext
  const names = Object.keys(resources.requests)
  // Kubelets of Windows do not know user 0, and would run what an image offers.
  return [
    each(onlyOf('dyn(container)', [...Object.keys(container), ...added.container]), 'a container has fields that no helper pod has'),
    each(`container.?command.orValue([]) == ${celList(container.command)}`, 'a container has another command'),
    each(
      onlyOf('dyn(container).?securityContext.orValue({})', Object.keys(securityContext)),
      'the securityContext of a container has other fields',
    ),
    ...Object.entries(flags).map(([field, value]) =>
      each(isSame('container.?securityContext', field, value), `a container lacks ${field}: ${String(value)}`),
    ),
    each(
      `${onlyOf('dyn(container).?securityContext.?capabilities.orValue({})', Object.keys(capabilities))} && container.?securityContext.?capabilities.?drop.orValue([]) == ${celList(capabilities.drop)}`,
      'a container has capabilities',
    ),
    each(onlyOf('dyn(container).?resources.orValue({})', Object.keys(resources)), 'a container has claims of resources'),
    ...names.map((name) =>
      each(
        `string(dyn(container).?resources.?requests[?'${name}'].orValue('1')) == '0'`,
        `a container does not state that it requests no ${name}`,
      ),
    ),
    ...['requests', 'limits'].map((list) =>
      each(onlyOf(`dyn(container).?resources.?${list}.orValue({})`, names), `a container has ${list} for other resources`),
    ),
  ]
}

/** CEL: each key of a map is in the list. With `dyn`, objects and quantities count as maps, which the types of the API server do not know. */
function onlyOf(map: string, keys: readonly string[]): string {
  return `${map}.all(key, key in ${celList(keys)})`
}

function onlyFields(map: string, keys: readonly string[], what: string): Validation {
  const others = `${map}.filter(key, !(key in ${celList(keys)})).join(', ')`
  return { ...only(onlyOf(map, keys), what), messageExpression: `${celText(`${START}${what}: `)} + ${others}` }
}

/** CEL: a field has the value that it has in each helper pod. */
function isSame(object: string, field: string, value: unknown): string {
  if (typeof value === 'boolean') return `${object}.?${field}.orValue(${!value}) == ${value}`
  if (typeof value === 'number') return `${object}.?${field}.orValue(${value + 1}) == ${value}`
  return `${object}.?${field}.orValue('') == ${celText(String(value))}`
}

function same(object: string, field: string, value: unknown): Validation {
  return only(isSame(object, field, value), `it lacks ${field}: ${String(value)}`)
}

/** Something holds for each container. */
function each(expression: string, what: string): Validation {
  return only(`object.spec.containers.all(container, ${expression})`, what)
}

function only(expression: string, what: string): Validation {
  return { expression, message: `${START}${what}` }
}
