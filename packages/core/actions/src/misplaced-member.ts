import type { ActionBody, ActionType } from '@tranche/api-schema'
import { refused, type Action, type ActionRejection } from './action.ts'

/** Members that belong to some types alone. */
const onlyFor: readonly { readonly member: keyof ActionBody; readonly types: readonly ActionType[] }[] = [
  { member: 'step', types: ['jump'] },
  { member: 'full', types: ['promote'] },
  { member: 'toRevision', types: ['undo'] },
]

/** Members that an action of that type needs, as its guard against a second one. */
const needed: readonly { readonly member: keyof ActionBody; readonly types: readonly ActionType[] }[] = [
  { member: 'expectedStep', types: ['approve', 'jump'] },
  { member: 'step', types: ['jump'] },
]

/** The member that an action lacks, or must not have; null where its body fits its type. */
export function misplacedMember({ type, body }: Action): ActionRejection | null {
  for (const { member, types } of onlyFor)
    if (body[member] !== undefined && !types.includes(type))
      return invalid(
        member,
        `${member} is ${JSON.stringify(body[member])}: only ${types.join(' and ')} has it, and not ${type}`,
        `leave ${member} out`,
      )
  for (const { member, types } of needed)
    if (body[member] === undefined && types.includes(type))
      return invalid(member, `${type} does not say ${member}`, `say ${neededText[member] ?? member}`)
  return null
}

const neededText: Partial<Readonly<Record<keyof ActionBody, string>>> = {
  expectedStep: 'expectedStep, the step at which you see the release: so two people never leave two steps',
  step: 'step, the step to go to',
}

function invalid(path: keyof ActionBody, message: string, fix: string): ActionRejection {
  return { ...refused('ACTION_INVALID', message, fix), path }
}
