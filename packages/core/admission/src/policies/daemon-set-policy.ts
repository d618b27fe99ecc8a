import { daemonSetAnnotations, fieldManagers, WORKLOAD_TYPE_DAEMONSET, WORKLOAD_TYPE_LABEL } from '@tranche/kube-types'
import { celList, mutatingPolicy, notOurs, type PolicyObject, type PolicyScope } from './policy-objects.ts'

const { rollout, originalUpdateStrategy, inProgressing, controlInfo } = daemonSetAnnotations

/** Matches DaemonSets that are bound to a Rollout; admission ignores all others. */
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

/** The variables follow the steps of {@link admitDaemonSet}. */
const scope: PolicyScope = {
  name: 'daemonsets',
  ...boundDaemonSets,
  variables: [
    { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
    { name: 'sent', expression: 'object.metadata.?annotations.orValue({})' },
    { name: 'begins', expression: 'object.spec.template != oldObject.spec.template' },
    { name: 'held', expression: `${celList([originalUpdateStrategy, inProgressing, controlInfo])}.exists(key, key in variables.before)` },
    { name: 'type', expression: "object.spec.?updateStrategy.?type.orValue('RollingUpdate')" },
    // Type in the request. OnDelete with a stored type means our own patched object.
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
 * {@link admitDaemonSet} as a policy that the API server evaluates. A new template on a bound DaemonSet starts a release in the same
 * write. `RollingUpdate` is reset to `OnDelete` while a release holds it, and the keys that Tranche owns stay.
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

/** Escapes a key for a JSON Pointer; our keys have no `~`. @see RFC 6901 */
function escaped(key: string): string {
  return key.replaceAll('/', '~1')
}
