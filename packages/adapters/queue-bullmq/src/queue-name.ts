/** Name of the queue in BullMQ; its keys are `PREFIX:jobs:…`. */
export const QUEUE_NAME = 'jobs'
