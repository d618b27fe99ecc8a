import type { ActionBody, ActionType } from '@tranche/api-schema'
import { refused, type Action, type ActionRejection } from './action.ts'

/** Members that only some types may have. */
const onlyFor: readonly { readonly member: keyof ActionBody; readonly types: readonly ActionType[] }[] = [
  { member: 'step', types: ['jump'] },
  { member: 'full', types: ['promote'] },
  { member: 'toRevision', types: ['undo'] },
]

/** Members that a type needs, so that a second action of the same kind cannot take effect twice. */
const needed: readonly { readonly member: keyof ActionBody; readonly types: readonly ActionType[] }[] = [
  { member: 'expectedStep', types: ['approve', 'jump'] },
  { member: 'step', types: ['jump'] },
]

/** Reports a missing or misplaced member; null when the body fits the type. */
export function misplacedMember({ type, body }: Action): ActionRejection | null {
  for (const { member, types } of onlyFor)
    if (body[member] !== undefined && !types.includes(type))
      return invalid(
        member,
        `${member} is ${JSON.stringify(body[member])}: only ${types.join(' and ')} may have it, not ${type}`,
        `remove ${member}`,
      )
  for (const { member, types } of needed)
    if (body[member] === undefined && types.includes(type))
      return invalid(member, `${type} needs ${member}`, `add ${neededText[member] ?? member}`)
  return null
}

const neededText: Partial<Readonly<Record<keyof ActionBody, string>>> = {
  expectedStep: 'expectedStep, the step of the release that you see, so that two users never advance two steps',
  step: 'step, the number of the target step',
}

function invalid(path: keyof ActionBody, message: string, fix: string): ActionRejection {
  return { ...refused('ACTION_INVALID', message, fix), path }
}
