import { daemonSetAnnotations, fieldManagers, WORKLOAD_TYPE_DAEMONSET, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { celList, mutatingPolicy, notOurs, type PolicyObject, type PolicyScope } from './policy-objects.ts'

const { rollout, originalUpdateStrategy, inProgressing, controlInfo } = daemonSetAnnotations

/** A DaemonSet that a Rollout is bound to; whoever is not bound is looked at by nothing of ours. */
export const boundDaemonSets = {
  operations: ['UPDATE'],
  group: 'apps',
  version: 'v1',
  resource: 'daemonsets',
  labels: { [WORKLOAD_TYPE_LABEL]: WORKLOAD_TYPE_DAEMONSET },
  conditions: [
    { name: 'bound', expression: `'${rollout}' in oldObject.metadata.?annotations.orValue({})` },
    notOurs([fieldManagers.controller, fieldManagers.executor]),
  ],
} as const satisfies Partial<PolicyScope>

/** As {@link admitDaemonSet} has it, step by step. */
const scope: PolicyScope = {
  name: 'daemonsets',
  ...boundDaemonSets,
  variables: [
    { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
    { name: 'sent', expression: 'object.metadata.?annotations.orValue({})' },
    { name: 'begins', expression: 'object.spec.template != oldObject.spec.template' },
    { name: 'held', expression: `${celList([originalUpdateStrategy, inProgressing, controlInfo])}.exists(key, key in variables.before)` },
    { name: 'type', expression: "object.spec.?updateStrategy.?type.orValue('RollingUpdate')" },
    // What the request states; where it says OnDelete beside a memory, it is our own answer come back.
    {
      name: 'stated',
      expression: `variables.type == 'OnDelete' && variables.sent[?'${originalUpdateStrategy}'].orValue('') == 'RollingUpdate' ? 'RollingUpdate' : variables.type`,
    },
    { name: 'memory', expression: `variables.before[?'${originalUpdateStrategy}'].orValue(variables.stated)` },
    { name: 'name', expression: `variables.before['${rollout}']` },
    {
      name: 'lost',
      expression: `${celList(Object.values(daemonSetAnnotations))}.filter(key, key in variables.before && variables.sent[?key] != variables.before[?key])`,
    },
    { name: 'label', expression: `oldObject.metadata.?labels[?'${WORKLOAD_TYPE_LABEL}']` },
    { name: 'sentLabel', expression: `object.metadata.?labels[?'${WORKLOAD_TYPE_LABEL}']` },
  ],
}

/**
 * What {@link admitDaemonSet} decides, as a policy that the API server itself evaluates: a new template on a bound DaemonSet
 * begins a release in the same write, `RollingUpdate` is put back to `OnDelete` while a release holds it, and our keys stay.
 */
export const daemonSetPolicy: readonly PolicyObject[] = mutatingPolicy(
  scope,
  [
    `(has(object.metadata.annotations) || !(variables.begins || variables.lost.size() > 0) ? [] : [${add('/metadata/annotations', '{}')}])`,
    `variables.lost.map(key, ${"JSONPatch{op: 'add', path: '/metadata/annotations/' + key.replace('/', '~1'), value: variables.before[key]}"})`,
    `(variables.begins ? [
  ${add(pointer(originalUpdateStrategy), 'variables.memory')},
  ${add(pointer(inProgressing), `'{"rolloutName":"' + variables.name + '"}'`)}
] : [])`,
    `((variables.begins || variables.held) && variables.type != 'OnDelete' ? [${add('/spec/updateStrategy/type', "'OnDelete'")}] : [])`,
    `(variables.label.hasValue() && variables.sentLabel != variables.label && !has(object.metadata.labels) ? [${add('/metadata/labels', '{}')}] : [])`,
    `(variables.label.hasValue() && variables.sentLabel != variables.label ? [${add(`/metadata/labels/${escaped(WORKLOAD_TYPE_LABEL)}`, 'variables.label.value()')}] : [])`,
  ].join(' +\n'),
)

function add(path: string, value: string): string {
  return `JSONPatch{op: 'add', path: '${path}', value: ${value}}`
}

function pointer(annotation: string): string {
  return `/metadata/annotations/${escaped(annotation)}`
}

/** Our keys have no `~`. @see RFC 6901 */
function escaped(key: string): string {
  return key.replaceAll('/', '~1')
}
