import type { ApiObject } from '../model/client.ts'
import { invalid, notSupported, required } from '../model/field-errors.ts'
import type { Strategy } from '../model/resource-definition.ts'
import { plainStrategy } from './strategies.ts'
import type { StatusCause } from '../model/status-error.ts'
import { jsonEqual, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { rbacGroup } from '../auth/authorizer.ts'

/** Roles, whose rules apply to resources only. */
export const roleStrategy: Strategy = { ...plainStrategy, allowCreateOnUpdate: true, validate: (role) => rulesCauses(role['rules'], true) }

/** Cluster roles: rules may also apply to URL paths; an aggregation rule selects other cluster roles, whose rules are copied. */
export const clusterRoleStrategy: Strategy = {
  ...plainStrategy,
  allowCreateOnUpdate: true,
  validate: (role) => [...rulesCauses(role['rules'], false), ...aggregationCauses(role['aggregationRule'])],
}

/** Role bindings: the role is immutable. */
export const roleBindingStrategy: Strategy = bindingStrategy(['Role', 'ClusterRole'], true)

/** Cluster role bindings: the role is immutable. */
export const clusterRoleBindingStrategy: Strategy = bindingStrategy(['ClusterRole'], false)

function bindingStrategy(roleKinds: readonly string[], isNamespaced: boolean): Strategy {
  return {
    ...plainStrategy,
    allowCreateOnUpdate: true,
    defaults: defaultGroups,
    validate: (binding) => [
      ...roleRefCauses(objectOrEmpty(binding['roleRef']), roleKinds),
      ...listOrEmpty(binding['subjects']).flatMap((subject, index) =>
        subjectCauses(objectOrEmpty(subject), isNamespaced, `subjects[${index}]`),
      ),
    ],
    validateUpdate: (binding, old) =>
      jsonEqual(binding['roleRef'], old['roleRef']) ? [] : [invalid('roleRef', binding['roleRef'], 'cannot change roleRef')],
  }
}

function defaultGroups(binding: ApiObject): ApiObject {
  const roleRef = objectOrEmpty(binding['roleRef'])
  const subjects = listOrEmpty(binding['subjects']).map(objectOrEmpty)
  return {
    ...binding,
    roleRef: { ...roleRef, apiGroup: roleRef['apiGroup'] || rbacGroup },
    ...(subjects.length > 0 && {
      subjects: subjects.map((subject) =>
        subject['kind'] === 'ServiceAccount' || subject['apiGroup'] ? subject : { ...subject, apiGroup: rbacGroup },
      ),
    }),
  }
}

function rulesCauses(rules: unknown, isNamespaced: boolean): readonly StatusCause[] {
  return listOrEmpty(rules).flatMap((rule, index) => ruleCauses(objectOrEmpty(rule), isNamespaced, `rules[${index}]`))
}

function ruleCauses(rule: Readonly<Record<string, unknown>>, isNamespaced: boolean, path: string): readonly StatusCause[] {
  const count = (field: string): number => listOrEmpty(rule[field]).length
  const urls = rule['nonResourceURLs']
  const causes = count('verbs') === 0 ? [required(`${path}.verbs`, 'verbs must contain at least one value')] : []
  if (count('nonResourceURLs') > 0) {
    const at = `${path}.nonResourceURLs`
    if (isNamespaced) causes.push(invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs'))
    if (count('apiGroups') + count('resources') + count('resourceNames') > 0)
      causes.push(invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs'))
    return causes
  }
  if (count('apiGroups') === 0) causes.push(required(`${path}.apiGroups`, 'resource rules must supply at least one api group'))
  if (count('resources') === 0) causes.push(required(`${path}.resources`, 'resource rules must supply at least one resource'))
  return causes
}

function aggregationCauses(aggregationRule: unknown): readonly StatusCause[] {
  if (aggregationRule === undefined || listOrEmpty(objectOrEmpty(aggregationRule)['clusterRoleSelectors']).length > 0) return []
  const why = 'at least one clusterRoleSelector required if aggregationRule is non-nil'
  return [required('aggregationRule.clusterRoleSelectors', why)]
}

function roleRefCauses(roleRef: Readonly<Record<string, unknown>>, kinds: readonly string[]): readonly StatusCause[] {
  const { apiGroup, kind, name } = roleRef
  return [
    ...(apiGroup === rbacGroup ? [] : [notSupported('roleRef.apiGroup', apiGroup, [rbacGroup])]),
    ...(kinds.includes(String(kind)) ? [] : [notSupported('roleRef.kind', kind ?? '', kinds)]),
    ...(name ? [] : [required('roleRef.name')]),
  ]
}

function subjectCauses(subject: Readonly<Record<string, unknown>>, isNamespaced: boolean, path: string): readonly StatusCause[] {
  const { kind, name, namespace, apiGroup = '' } = subject
  const causes = name ? [] : [required(`${path}.name`)]
  switch (kind) {
    case 'ServiceAccount':
      if (apiGroup !== '') causes.push(notSupported(`${path}.apiGroup`, apiGroup, ['']))
      if (!isNamespaced && !namespace) causes.push(required(`${path}.namespace`))
      return causes
    case 'User':
    case 'Group':
      if (apiGroup !== rbacGroup) causes.push(notSupported(`${path}.apiGroup`, apiGroup, [rbacGroup]))
      return causes
    default:
      return [...causes, notSupported(`${path}.kind`, kind ?? '', ['ServiceAccount', 'User', 'Group'])]
  }
}
