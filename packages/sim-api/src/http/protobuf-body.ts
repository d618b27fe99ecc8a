/**
 * Reads the few objects that command line clients send as protobuf without having asked whether the server takes it.
 *
 * @returns the object as JSON, or undefined for bytes of another form or a kind not among those few
 * @see Kubernetes API concepts, "Kubernetes Protobuf encoding": four bytes of magic, then an envelope with type and object
 */
export function protobufToJson(bytes: Uint8Array): string | undefined {
  if (Buffer.from(bytes.subarray(0, 4)).toString('latin1') !== 'k8s\0') return undefined
  const envelope = readMessage(bytes.subarray(4), 'Unknown')
  const { apiVersion, kind } = (envelope['typeMeta'] ?? {}) as { readonly apiVersion?: string; readonly kind?: string }
  if (kind === undefined || messages[kind] === undefined || !(envelope['raw'] instanceof Uint8Array)) return undefined
  return JSON.stringify({ apiVersion, kind, ...readMessage(envelope['raw'], kind) })
}

/** `+` before a name marks a field that is sent even when it holds nothing, and then means nothing. */
type MessageFields = Readonly<Record<number, readonly [name: string, type: string]>>

/** Field numbers from the published API definitions. */
const messages: Readonly<Record<string, MessageFields>> = {
  Unknown: { 1: ['typeMeta', 'TypeMeta'], 2: ['raw', 'raw'] },
  TypeMeta: { 1: ['apiVersion', 'string'], 2: ['kind', 'string'] },
  ObjectMeta: {
    1: ['+name', 'string'],
    2: ['+generateName', 'string'],
    3: ['+namespace', 'string'],
    5: ['+uid', 'string'],
    6: ['+resourceVersion', 'string'],
    7: ['+generation', 'integer'],
    11: ['labels', 'map string'],
    12: ['annotations', 'map string'],
    13: ['ownerReferences', 'list OwnerReference'],
    14: ['finalizers', 'list string'],
  },
  OwnerReference: {
    1: ['kind', 'string'],
    3: ['name', 'string'],
    4: ['uid', 'string'],
    5: ['apiVersion', 'string'],
    6: ['controller', 'boolean'],
    7: ['blockOwnerDeletion', 'boolean'],
  },
  Namespace: { 1: ['metadata', 'ObjectMeta'] },
  ConfigMap: { 1: ['metadata', 'ObjectMeta'], 2: ['data', 'map string'], 3: ['binaryData', 'map bytes'], 4: ['immutable', 'boolean'] },
  Secret: {
    1: ['metadata', 'ObjectMeta'],
    2: ['data', 'map bytes'],
    3: ['+type', 'string'],
    4: ['stringData', 'map string'],
    5: ['immutable', 'boolean'],
  },
  ServiceAccount: { 1: ['metadata', 'ObjectMeta'], 4: ['automountServiceAccountToken', 'boolean'] },
  Eviction: { 1: ['metadata', 'ObjectMeta'], 2: ['deleteOptions', 'DeleteOptions'] },
  DeleteOptions: {
    1: ['gracePeriodSeconds', 'integer'],
    2: ['preconditions', 'Preconditions'],
    3: ['orphanDependents', 'boolean'],
    4: ['propagationPolicy', 'string'],
    5: ['dryRun', 'list string'],
  },
  Preconditions: { 1: ['uid', 'string'], 2: ['resourceVersion', 'string'] },
  SelfSubjectReview: {},
  SelfSubjectAccessReview: { 2: ['spec', 'SelfSubjectAccessReviewSpec'] },
  SelfSubjectAccessReviewSpec: { 1: ['resourceAttributes', 'ResourceAttributes'], 2: ['nonResourceAttributes', 'NonResourceAttributes'] },
  SelfSubjectRulesReview: { 2: ['spec', 'SelfSubjectRulesReviewSpec'] },
  SelfSubjectRulesReviewSpec: { 1: ['namespace', 'string'] },
  NonResourceAttributes: { 1: ['path', 'string'], 2: ['verb', 'string'] },
  TokenRequest: { 1: ['metadata', 'ObjectMeta'], 2: ['spec', 'TokenRequestSpec'] },
  TokenRequestSpec: { 1: ['audiences', 'list string'], 3: ['boundObjectRef', 'BoundObjectReference'], 4: ['expirationSeconds', 'integer'] },
  BoundObjectReference: { 1: ['kind', 'string'], 2: ['apiVersion', 'string'], 3: ['name', 'string'], 4: ['+uid', 'string'] },
  Role: { 1: ['metadata', 'ObjectMeta'], 2: ['rules', 'list PolicyRule'] },
  ClusterRole: { 1: ['metadata', 'ObjectMeta'], 2: ['rules', 'list PolicyRule'], 3: ['aggregationRule', 'AggregationRule'] },
  PolicyRule: {
    1: ['verbs', 'list string'],
    2: ['apiGroups', 'list string'],
    3: ['resources', 'list string'],
    4: ['resourceNames', 'list string'],
    5: ['nonResourceURLs', 'list string'],
  },
  AggregationRule: { 1: ['clusterRoleSelectors', 'list LabelSelector'] },
  LabelSelector: { 1: ['matchLabels', 'map string'] },
  RoleBinding: { 1: ['metadata', 'ObjectMeta'], 2: ['subjects', 'list Subject'], 3: ['roleRef', 'RoleRef'] },
  ClusterRoleBinding: { 1: ['metadata', 'ObjectMeta'], 2: ['subjects', 'list Subject'], 3: ['roleRef', 'RoleRef'] },
  Subject: { 1: ['kind', 'string'], 2: ['+apiGroup', 'string'], 3: ['name', 'string'], 4: ['+namespace', 'string'] },
  RoleRef: { 1: ['+apiGroup', 'string'], 2: ['kind', 'string'], 3: ['name', 'string'] },
  ResourceAttributes: {
    1: ['+namespace', 'string'],
    2: ['+verb', 'string'],
    3: ['+group', 'string'],
    4: ['+version', 'string'],
    5: ['+resource', 'string'],
    6: ['+subresource', 'string'],
    7: ['+name', 'string'],
  },
}

function readMessage(bytes: Uint8Array, message: string): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  for (const { number, value } of readFields(bytes)) {
    const [marked, type] = messages[message]?.[number] ?? []
    if (marked === undefined || type === undefined) continue
    const name = marked.replace('+', '')
    const [form, of] = type.split(' ')
    if (form === 'list') object[name] = [...((object[name] as unknown[] | undefined) ?? []), readValue(value, of!)]
    else if (form === 'map') object[name] = { ...(object[name] as object | undefined), ...readEntry(value, of!) }
    else if (!marked.startsWith('+') || !isEmpty(value)) object[name] = readValue(value, type)
  }
  return object
}

function readEntry(value: WireValue, type: string): Record<string, unknown> {
  const fields = typeof value === 'bigint' ? [] : [...readFields(value)]
  const of = (number: number): WireValue => fields.find((field) => field.number === number)?.value ?? new Uint8Array()
  return { [String(readValue(of(1), 'string'))]: readValue(of(2), type) }
}

function readValue(value: WireValue, type: string): unknown {
  if (typeof value === 'bigint') return type === 'boolean' ? value !== 0n : Number(BigInt.asIntN(64, value))
  if (type === 'string') return Buffer.from(value).toString('utf8')
  if (type === 'bytes') return Buffer.from(value).toString('base64')
  return type === 'raw' ? value : readMessage(value, type)
}

function isEmpty(value: WireValue): boolean {
  return typeof value === 'bigint' ? value === 0n : value.length === 0
}

/** A field is either a whole number or bytes; no field we read is of fixed width. */
type WireValue = bigint | Uint8Array

function* readFields(bytes: Uint8Array): Generator<{ readonly number: number; readonly value: WireValue }> {
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const wireType = tag & 7
    if (wireType === 0) yield { number: tag >> 3, value: varint() }
    else if (wireType === 2) {
      const length = Number(varint())
      yield { number: tag >> 3, value: bytes.subarray(at, (at += length)) }
    } else at += wireType === 1 ? 8 : 4
  }
}
