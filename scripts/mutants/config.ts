import type { Mutant } from './mutant.ts'

const references = 'packages/core/config/src/config-references.ts'
const fields = 'packages/core/config/src/config-fields.ts'
const hash = 'packages/core/config/src/has-content-hash.ts'
const judge = 'packages/core/config/src/judge-config.ts'
const conditions = 'packages/core/planner/src/rollout/states/rollout-conditions.ts'
const events = 'packages/core/planner/src/rollout/actions/rollout-events.ts'
const reading = 'packages/shells/controllers/src/config-port.ts'
const port = 'apps/controller/src/ports/config-port.ts'

const planPins = 'packages/core/config/src/pin/plan-pins.ts'
const configCopy = 'packages/core/config/src/pin/config-copy.ts'
const podPolicy = 'packages/core/admission/src/policies/pod-policy.ts'
const planPinsTests = 'packages/core/config/test/pin/plan-pins.test.ts'
const planPinsProperties = 'packages/core/config/test/pin/plan-pins.property.test.ts'
const configCopyTests = 'packages/core/config/test/pin/config-copy.test.ts'
const pinnedPods = 'test/scenarios/pinned-pods.test.ts'
const pinnedConfig = 'test/scenarios/pinned-config.test.ts'
const pinnedChanges = 'test/scenarios/pinned-changes.test.ts'
const pinnedStrategy = 'test/scenarios/pinned-strategy.test.ts'
const pinner = 'packages/shells/controllers/src/pins/pinner.ts'
const attemptPins = 'packages/shells/controllers/src/pins/attempt-pins.ts'
const pinPort = 'apps/controller/src/ports/pin/pin-port.ts'
const pinView = 'apps/controller/src/ports/pin/read-pin-view.ts'
const listCopies = 'apps/controller/src/ports/pin/list-copies.ts'
const copyOnWire = 'apps/controller/src/ports/pin/copy-on-wire.ts'
const pinnedAttacks = 'test/scenarios/pinned-attacks.test.ts'
const pinPortTests = 'apps/controller/test/pin-port.test.ts'
const pinnedSecrets = 'test/scenarios/pinned-secrets.test.ts'
const listCopiesTests = 'apps/controller/test/list-copies.test.ts'
const takeOver = 'packages/core/planner/src/rollout/take-over-for-pins.ts'
const takeOverTests = 'packages/core/planner/test/rollout/take-over-for-pins.test.ts'
const undonePins = 'packages/core/planner/src/rollout/undone-pins.ts'
const wake = 'apps/controller/src/wake.ts'

const referencesTests = 'packages/core/config/test/config-references.test.ts'
const judgeTests = 'packages/core/config/test/judge-config.test.ts'
const conditionTests = 'packages/core/planner/test/rollout/config-condition.test.ts'
const eventsTests = 'packages/core/planner/test/rollout/rollout-events.test.ts'
const rolloutPass = 'packages/shells/controllers/src/rollout-pass.ts'
const portTests = 'apps/controller/test/config-port.test.ts'
const scenarios = 'test/scenarios/config.test.ts'

/** Faults in finding config that is not part of the version. */
export const mutantsOfConfig: readonly Mutant[] = [
  {
    rule: 'ConfigUnversioned',
    fault: 'init containers read no config',
    file: fields,
    find: "['initContainers', 'containers', 'ephemeralContainers']",
    replace: "['containers', 'ephemeralContainers']",
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a file of a subPath is updated in running pods',
    file: fields,
    find: '!isNamed(subPath) && !isNamed(subPathExpr)',
    replace: '!isNamed(subPathExpr)',
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a ConfigMap and a Secret of one name are one object',
    file: references,
    find: 'Map.groupBy(found, ({ kind, name }) =>',
    replace: "Map.groupBy(found.map((one) => ({ ...one, kind: 'ConfigMap' as const })), ({ kind, name }) =>",
    tests: [referencesTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a date is the hash of a content',
    file: hash,
    find: ' && !isDate(hex)',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'any ten letters are a hash of kustomize',
    file: hash,
    find: '[2456789bcdfghkmt]{10}$',
    replace: '[a-z0-9]{10}$',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'any annotation is a checksum',
    file: judge,
    find: 'key.startsWith(CHECKSUM) && ',
    replace: '',
    tests: [judgeTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a Secret counts as immutable because a ConfigMap of its name is',
    file: conditions,
    find: "object.kind === 'ConfigMap' && immutableConfigMaps?.has(object.name) === true",
    replace: 'object.kind.length > 0 && immutableConfigMaps?.has(object.name) === true',
    tests: [conditionTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'the condition stays while the Rollout is disabled',
    file: conditions,
    find: 'if (daemonSet === undefined || rollout.spec.disabled === true) return []',
    replace: 'if (daemonSet === undefined || rollout.spec === undefined) return []',
    tests: [conditionTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'other config has no event',
    file: events,
    find: '(was?.status === is.status && was.message === is.message)',
    replace: 'was?.status === is.status',
    tests: [eventsTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'ConfigMaps whose names carry a hash are read as well',
    file: reading,
    find: 'judgeConfig(daemonSet?.spec.template)',
    replace:
      "({ references: [{ kind: 'ConfigMap' as const, name: 'agent-1a2b3c4d' }, ...(judgeConfig(daemonSet?.spec.template)?.references ?? [])] })",
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a ConfigMap is read in each pass',
    file: port,
    find: 'earlier !== undefined && clock.monotonicMs() < earlier.untilMs',
    replace: 'earlier !== undefined && clock.monotonicMs() < 0',
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a failed read is believed for five minutes',
    file: port,
    find: "read === 'failed' ? FAILED_FOR_MS : KNOWN_FOR_MS",
    replace: "read === 'failed' && FAILED_FOR_MS < 0 ? FAILED_FOR_MS : KNOWN_FOR_MS",
    tests: [portTests],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'nothing reads a ConfigMap again that became immutable',
    file: rolloutPass,
    find: 'noLaterThan(immutable?.recheckAfterMs, outcomeOf(plan))',
    replace: '(immutable === undefined ? noLaterThan(1, outcomeOf(plan)) : outcomeOf(plan))',
    tests: [scenarios],
  },
  {
    rule: 'ConfigUnversioned',
    fault: 'a missing permission stops the Rollout',
    file: port,
    find: '      signal.throwIfAborted()\n',
    replace: '      if (!isNotFound(error)) throw error\n',
    tests: [scenarios],
  },
  {
    rule: 'Pin',
    fault: 'a rolled back content is offered again',
    file: planPins,
    find: 'before.has(key) && before.get(key) !== copy',
    replace: "!before.has(key) || before.get(key) !== copy || key === ''",
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy is deleted that a revision names',
    file: planPins,
    find: '[view.template, ...view.revisions, ...view.pods].map(pinsOf)',
    replace: '[view.template, ...view.pods].map(pinsOf)',
    tests: [planPinsProperties],
  },
  {
    rule: 'Pin',
    fault: 'a copy is deleted that a pod names',
    file: planPins,
    find: '[view.template, ...view.revisions, ...view.pods].map(pinsOf)',
    replace: '[view.template, ...view.revisions].map(pinsOf)',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'copies are deleted before the DaemonSet controller has observed the template',
    file: planPins,
    find: 'if (!view.isObserved) return []',
    replace: 'if (view.pods.length < 0) return []',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy is deleted without a mark',
    file: planPins,
    find: 'const marked = garbage.filter(({ isUnused }) => isUnused)',
    replace: 'const marked = garbage',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a template names a copy that is about to be deleted',
    file: planPins,
    find: "if (existing?.isUnused === true) return { kind: 'keepCopy', copy: existing }",
    replace: '',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a template names a copy before it exists',
    file: planPins,
    find: "if (found?.kind === 'found') return createPlan(view, found.source)",
    replace: '',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy is created at a name that belongs to another object, again and again',
    file: pinPort,
    find: 'if (found !== undefined && !isOurs) this.#taken.add({ kind, ...metadata })',
    replace: '',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'any object that looks like a copy and holds the content is followed',
    file: planPins,
    find: 'namedCopies(view, source).find(',
    replace: 'view.copies.find(',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy is listed with its content',
    file: listCopies,
    find: 'metadataOnly: true,',
    replace: 'metadataOnly: uid.length < 0,',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'every object with the label of copies is looked at',
    file: listCopies,
    find: 'if (++seen > MOST_LISTED) throw enough',
    replace: 'seen++',
    tests: [listCopiesTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy that a cut list lacks is not read',
    file: pinView,
    find: 'list.isCut ? needed(reader, list) : []',
    replace: 'list.isCut && list.copies.length < 0 ? needed(reader, list) : []',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'an error about a Secret says what a server wrote',
    file: 'apps/controller/src/ports/pin/secret-client.ts',
    find: "kind === 'Secret' ? withoutServerText(client) : client",
    replace: "kind === ('None' as string) ? withoutServerText(client) : client",
    tests: [pinnedSecrets],
  },
  {
    rule: 'Pin',
    fault: 'a copy of a Secret is named whatever it holds',
    file: copyOnWire,
    find: 'content !== undefined && isSameContent(copy.content, content)',
    replace: "(content === undefined || isSameContent(copy.content, content) || copy.name !== '')",
    tests: [pinnedSecrets],
  },
  {
    rule: 'Pin',
    fault: 'a Secret whose labels change is another content',
    file: pinView,
    find: "(kind === 'Secret' || salt !== undefined)",
    replace: 'salt !== undefined',
    tests: [pinnedSecrets],
  },
  {
    rule: 'Pin',
    fault: 'the type of a Secret is lost',
    file: configCopy,
    find: '...(type !== undefined && { type }),',
    replace: "...(type === '' && { type }),",
    tests: [pinnedSecrets],
  },
  {
    rule: 'Pin',
    fault: 'a Secret whose content the cluster writes is copied',
    file: planPins,
    find: 'reading.source.type !== TOKEN_TYPE',
    replace: "reading.source.type !== ''",
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'Secrets are pinned in namespaces that the installation does not list',
    file: 'apps/controller/src/term.ts',
    find: "one === '*' || one === namespace",
    replace: "one === '*' || one.length > 0",
    tests: [pinnedSecrets],
  },
  {
    rule: 'Pin',
    fault: 'nothing says that Secrets are left as they are',
    file: conditions,
    find: 'view.pinsSecrets === false && found',
    replace: 'view.pinsSecrets === true && found',
    tests: [conditionTests],
  },
  {
    rule: 'Pin',
    fault: 'a stop waits for requests that pins need',
    file: 'packages/shells/controllers/src/rollout-pass.ts',
    find: "stopsRelease(plan, view) ? { kind: 'stop', plan } : ",
    replace: '',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'a pass that has copies to collect does nothing else, however often that is',
    file: pinner,
    find: '(this.#collectedMs.get(key) ?? Number.NEGATIVE_INFINITY) + PIN_RECHECK_MS',
    replace: '(this.#collectedMs.get(key) ?? 0) - PIN_RECHECK_MS',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'a copy that cannot be marked keeps the others, and the release',
    file: 'packages/shells/controllers/src/pins/collect-copies.ts',
    find: '      signal.throwIfAborted()\n      log.warn(',
    replace: '      if (copy !== null) throw error\n      log.warn(',
    tests: ['packages/shells/controllers/test/collect-copies.test.ts'],
  },
  {
    rule: 'Pin',
    fault: 'a write that can never be accepted counts as a lost race for ever',
    file: attemptPins,
    find: ' && on.lost < MOST_LOST',
    replace: '',
    tests: ['packages/shells/controllers/test/collect-copies.test.ts'],
  },
  {
    rule: 'Pin',
    fault: 'a pass waits for an attempt to its end',
    file: pinner,
    find: 'await within(this.#clock, PATIENCE_MS, done)',
    replace: 'await done',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'an abort waits until the API server answers requests for config',
    file: pinner,
    find: 'monotonicMs - sinceMs < OVERDUE_MS ? null',
    replace: 'monotonicMs - sinceMs < 100 * OVERDUE_MS ? null',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'the name of a copy is a digest of the content of a Secret',
    file: configCopy,
    find: "source.kind === 'Secret' ? ",
    replace: "source.kind === ('None' as string) ? ",
    tests: [configCopyTests],
  },
  {
    rule: 'Pin',
    fault: 'two DaemonSets share a copy',
    file: configCopy,
    find: 'canonicalJson([uid, source.kind,',
    replace: "canonicalJson(['', source.kind,",
    tests: [configCopyTests],
  },
  {
    rule: 'Pin',
    fault: 'a policy replaces the Secret of a projected volume by the copy of the ConfigMap of that name',
    file: podPolicy,
    find: "sourceTerm('Secret', 'secret')",
    replace: "sourceTerm('ConfigMap', 'secret')",
    tests: [pinnedPods],
  },
  {
    rule: 'Pin',
    fault: 'a policy changes pods of every owner',
    file: podPolicy,
    find: "owner.kind == 'DaemonSet' && ",
    replace: '',
    tests: [pinnedPods],
  },
  {
    rule: 'Pin',
    fault: 'an object that is gone forgets the offer that was rolled back',
    file: planPins,
    find: '(isGone(key) ? before.get(key) : undefined) ?? copy',
    replace: '(isGone(key) && before.size < 0 ? before.get(key) : undefined) ?? copy',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'the native controller acts on a template with new config',
    file: attemptPins,
    find: "timing.kind === 'now' && changesTemplate ? timing.operations : []",
    replace: '[]',
    tests: [pinnedConfig],
  },
  {
    rule: 'Pin',
    fault: 'a DaemonSet is pinned before it is bound, or for another Rollout',
    file: takeOver,
    find: 'annotations[daemonSetAnnotations.rollout] !== rollout.metadata.name',
    replace: 'annotations[daemonSetAnnotations.rollout] === undefined && rollout.metadata.name === undefined',
    tests: [takeOverTests],
  },
  {
    rule: 'Pin',
    fault: 'a Rollout that is stalled pins config',
    file: takeOver,
    find: 'daemonSet === undefined || obstacleOf(view) !== null',
    replace: 'daemonSet === undefined || (obstacleOf(view) !== null && view.nowMs < 0)',
    tests: [takeOverTests],
  },
  {
    rule: 'Pin',
    fault: 'the release of another template keeps config from being pinned',
    file: takeOver,
    find: "found.kind === 'pending' || found.canary === release.spec.tranche?.canaryRevision",
    replace: 'found.kind.length > 0',
    tests: [takeOverTests, pinnedStrategy],
  },
  {
    rule: 'Pin',
    fault: 'a release of the present template does not count who changes the strategy, where config changes',
    file: takeOver,
    find: "found.kind === 'pending' || found.canary === release.spec.tranche?.canaryRevision",
    replace: "found.kind === 'pending'",
    tests: [takeOverTests, pinnedStrategy],
  },
  {
    rule: 'Pin',
    fault: 'config is pinned while the release in charge is being deleted',
    file: takeOver,
    find: ' || release.metadata.deletionTimestamp !== undefined) return true',
    replace: ') return true',
    tests: [takeOverTests],
  },
  {
    rule: 'Pin',
    fault: 'a stop that a retry lifts is hidden by config that changed meanwhile',
    file: attemptPins,
    find: "return isPinned(view) ? { kind: 'pinned', rolledBack: [], isSettled: false } :",
    replace: 'return',
    tests: [pinnedStrategy],
  },
  {
    rule: 'Pin',
    fault: 'a release of a pinned template stops while its objects cannot be read',
    file: attemptPins,
    find: 'view === undefined ? on.wasPinned : isPinned(view) && isTransient(error)',
    replace: 'view !== undefined && isPinned(view) && isTransient(error)',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a release of a pinned template stops while later copies cannot be created',
    file: attemptPins,
    find: 'view === undefined ? on.wasPinned : isPinned(view) && isTransient(error)',
    replace: 'view === undefined && on.wasPinned',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a quota that refuses a copy is not reported',
    file: attemptPins,
    find: 'view === undefined ? on.wasPinned : isPinned(view) && isTransient(error)',
    replace: 'view === undefined ? on.wasPinned : isPinned(view)',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a lost race for a DaemonSet is repeated until an old watch has caught up',
    file: 'apps/controller/src/ports/patch-daemon-set.ts',
    find: "error.code === 'WRITE_CONFLICT') await",
    replace: "error.code === 'API_REFUSED') await",
    tests: [pinPortTests],
  },
  {
    rule: 'Pin',
    fault: 'a copy that was deleted meanwhile holds the release',
    file: pinPort,
    find: 'kind, { namespace, name }, signal).catch(orUndefined)\n    if (found',
    replace: 'kind, { namespace, name }, signal)\n    if (found',
    tests: [pinPortTests],
  },
  {
    rule: 'Pin',
    fault: 'any number of names is left to the policy for pods, which the API server stops at a cost limit',
    file: 'packages/core/config/src/pin/pin-limits.ts',
    find: 'const MOST_WORK = 300_000',
    replace: 'const MOST_WORK = 30_000_000',
    tests: [planPinsTests],
  },
  {
    rule: 'Pin',
    fault: 'an object of the name of a copy is followed whatever it holds',
    file: copyOnWire,
    find: 'copyName(source, owner, copy.salt) === copy.name',
    replace: 'copyName(source, owner, copy.salt).length > 0',
    tests: [pinnedAttacks],
  },
  {
    rule: 'Pin',
    fault: 'config is read in each pass',
    file: pinner,
    find: '(last.untilMs !== null && last.untilMs <= monotonicMs)',
    replace: '(last.untilMs ?? 0) <= monotonicMs',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a change of config wakes no Rollout',
    file: wake,
    find: 'if (isReader || daemonSet.metadata.uid === copyOf) wake(',
    replace: 'if (isReader && daemonSet.metadata.uid === copyOf) wake(',
    tests: [pinnedConfig],
  },
  {
    rule: 'Pin',
    fault: 'copies that a rollback took out of the template are put back',
    file: undonePins,
    find: 'if (!heldRevisions.some((held) => mayHaveNamed(view, held, pins))) return false',
    replace: 'return false',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'copies that a user undid are put back after a rollback of others',
    file: undonePins,
    find: 'namesAll(pinsOf(template), pins)',
    replace: 'includes(pinsOf(template), pins)',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a user who changes an object all the time starts a release each time',
    file: pinner,
    find: 'if (result.hasPinned === true) this.#pace.count(key, view.monotonicMs)',
    replace: '',
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'a release of copies does not continue while a later content waits',
    file: attemptPins,
    find: "return isPinned(view) ? { kind: 'pinned', rolledBack: [], isSettled: false, waitMs }",
    replace: "return view.copies.length === 0 ? { kind: 'pinned', rolledBack: [], isSettled: false, waitMs }",
    tests: [pinnedChanges],
  },
  {
    rule: 'Pin',
    fault: 'objects are read at each change while the template may not change',
    file: pinner,
    find: 'last.result.waitMs === undefined ? this.#port',
    replace: 'last.result.waitMs !== null ? this.#port',
    tests: [pinnedChanges],
  },
]
