import type { Mutant } from './mutant.ts'

const outbox = 'packages/core/planner/src/notify/outbox.ts'
const planNotify = 'packages/core/planner/src/notify/plan-notify.ts'
const reminders = 'packages/core/planner/src/notify/reminders.ts'
const notifyPass = 'packages/shells/controllers/src/notify-pass.ts'
const notifier = 'packages/adapters/egress/src/notify/notifier.ts'
const egress = 'packages/adapters/egress/src/egress-client.ts'

const outboxTests = 'packages/core/planner/test/notify/outbox.test.ts'
const outboxProperties = 'packages/core/planner/test/notify/outbox.property.test.ts'
const planNotifyTests = 'packages/core/planner/test/notify/plan-notify.test.ts'
const passProperties = 'packages/shells/controllers/test/notify-pass.property.test.ts'
const notifierTests = 'packages/adapters/egress/test/notifier.test.ts'
const poolTests = 'packages/adapters/egress/test/caller-pools.test.ts'
const egressTests = 'packages/adapters/egress/test/egress-client.test.ts'

/** Faults in notifications to receivers, and in the data that leaves the cluster. */
export const mutantsOfNotify: readonly Mutant[] = [
  {
    rule: 'G6',
    fault: 'slow requests of one namespace keep those of another from a server',
    file: egress,
    find: 'pools.run(request.caller,',
    replace: "pools.run('',",
    tests: [poolTests],
  },
  {
    rule: 'G6',
    fault: 'one namespace opens any number of connections',
    file: 'packages/adapters/egress/src/caller-pools.ts',
    find: 'await pool.requests.run(signal, caller, () => work(pool))',
    replace: 'await work(pool)',
    tests: [poolTests],
  },
  {
    rule: 'G6',
    fault: 'one namespace takes all slots for long responses',
    file: 'packages/adapters/egress/src/caller-pools.ts',
    find: 'const leaveOwn = await own.acquire(signal)',
    replace: 'const leaveOwn = (): void => void own',
    tests: [poolTests],
  },
  {
    rule: 'G7',
    fault: 'a repeated decision gets another notification id',
    file: outbox,
    find: '[uid, resourceVersion, event, name]',
    replace: '[uid, resourceVersion, event, name, nowMs]',
    tests: [outboxTests],
  },
  {
    rule: 'G7',
    fault: 'two receivers share an id, and the second counts as notified',
    file: outbox,
    find: '[uid, resourceVersion, event, name]',
    replace: '[uid, resourceVersion, event]',
    tests: [outboxTests],
  },
  {
    rule: 'G7',
    fault: 'waiting notifications are lost when a new one comes',
    file: outbox,
    find: 'const waiting = [...(next.notifications ?? []), ...notifiable',
    replace: 'const waiting = [...(notifiable.length > 0 ? [] : (next.notifications ?? [])), ...notifiable',
    tests: [outboxTests],
  },
  {
    rule: 'notify',
    fault: 'news is kept, and a failure is dropped',
    file: outbox,
    find: 'longest.find(({ event }) => newsOnly.includes(event)) ?? longest[0]',
    replace: 'longest[0]',
    tests: [outboxProperties],
  },
  {
    rule: 'notify',
    fault: 'the number of dropped notifications is not counted',
    file: outbox,
    find: 'const dropped = (victim?.dropped ?? 0) + 1',
    replace: 'const dropped = 0',
    tests: [outboxProperties],
  },
  {
    rule: 'notify',
    fault: 'a receiver gets a new notification before the ones that it missed',
    file: planNotify,
    find: 'view.rollout.status?.notifications?.find(({ receiver }) => receiver === view.receiver)',
    replace: 'view.rollout.status?.notifications?.findLast(({ receiver }) => receiver === view.receiver)',
    tests: [planNotifyTests, passProperties],
  },
  {
    rule: 'G7',
    fault: 'a notification that cannot be delivered is dropped',
    file: notifyPass,
    find: "result.kind === 'taken' ? removalPatch(rollout, id) : postponePatch",
    replace: 'result.kind !== null ? removalPatch(rollout, id) : postponePatch',
    tests: [passProperties],
  },
  {
    rule: 'G7',
    fault: 'the notification of another receiver is removed',
    file: planNotify,
    find: "/id`, value: id }, { op: 'remove', path }]",
    replace: "/id`, value: all[index]?.id }, { op: 'remove', path: '/status/notifications/0' }]",
    tests: [planNotifyTests, passProperties],
  },
  {
    rule: 'G7',
    fault: 'removing the last notification of a list also removes later ones',
    file: planNotify,
    find: "{ op: 'test', path: '/status/notifications', value: all }, ",
    replace: '',
    tests: [planNotifyTests, passProperties],
  },
  {
    rule: 'notify',
    fault: 'a receiver is notified again though only the write of the removal was refused',
    file: notifyPass,
    find: 'known?.id === notification.id ? known.result : ',
    replace: '',
    tests: [passProperties],
  },
  {
    rule: 'notify',
    fault: 'a receiver that asks for a delay is asked again at once',
    file: planNotify,
    find: 'Math.max(backOffMs(attempts), Math.min(failure.retryAfterMs ?? 0, LONGEST_BACK_OFF_MS))',
    replace: 'backOffMs(attempts)',
    tests: [planNotifyTests],
  },
  {
    rule: 'notify',
    fault: 'a reminder to one receiver delays the reminders of the others',
    file: reminders,
    find: 'rounds(wait, everyMs, times.nowMs) > rounds(wait, everyMs, lastMs)',
    replace: 'times.nowMs - lastMs >= everyMs',
    tests: [outboxTests],
  },
  {
    rule: 'notify',
    fault: 'the answer of a server gets into the status, with the secrets that it was sent',
    file: notifier,
    find: 'slack !== undefined && /^[a-z_]{1,64}$/.test(result.body.trim()) ?',
    replace: 'result.body !== "" ?',
    tests: [notifierTests],
  },
  {
    rule: 'notify',
    fault: 'the signed text is not the documented one',
    file: 'packages/adapters/egress/src/notify/signature.ts',
    find: '.update(`',
    replace: '.update(body).update(`',
    tests: [notifierTests],
  },
  {
    rule: 'allow-list',
    fault: 'a redirect leads to hosts that are not allowed',
    file: egress,
    find: 'if (!isHostAllowed(url, sending.allowHosts))',
    replace: 'if (redirects === 0 && !isHostAllowed(url, sending.allowHosts))',
    tests: [egressTests],
  },
  {
    rule: 'allow-list',
    fault: 'a redirect sends tokens to another origin',
    file: egress,
    find: '...(isFirstOrigin && request.privateHeaders)',
    replace: '...request.privateHeaders',
    tests: [egressTests],
  },
]
