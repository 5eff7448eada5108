"""Where feedback waits to be learned: in memory here, in Kafka elsewhere. Both give it in batches, in order."""

import asyncio
import json

END = (None, None)
MOST = 1000  # feedbacks in a batch


class FeedbackQueue:
    """Feedback from many requests; each gets its answer when its batch was written and learned.

    What arrives while a batch is on its way to the disk is the next batch: the more are waiting, the less each costs.
    """

    def __init__(self):
        self.queue = asyncio.Queue(maxsize=10 * MOST)  # who comes when it is full waits

    async def put(self, entry):
        """The answer to this feedback, once there is one."""
        answer = asyncio.get_running_loop().create_future()
        await self.queue.put((entry, answer))
        return await answer

    async def batches(self):
        """Lists of (entry, future of its answer), until it is closed."""
        while True:
            batch = [await self.queue.get()]
            while len(batch) < MOST and not self.queue.empty():
                batch.append(self.queue.get_nowait())
            if END in batch:
                yield batch[: batch.index(END)]
                return
            yield batch

    async def close(self):
        """No more batches after what is here now."""
        await self.queue.put(END)


def kafka_batches(servers, topic, offset):
    """The same from one partition of a Kafka topic: lists of entries, for ever. Not run here: there is no Kafka.

    Kafka is the journal then: nothing is written before it is learned, and `offset`, which is saved with the model, is
    where reading goes on after a crash. Nothing is committed to Kafka, or else there would be two truths. One
    partition, or one model for each: the order of the entries is part of what is learned.
    """
    from confluent_kafka import Consumer, TopicPartition  # pip install confluent-kafka

    consumer = Consumer({"bootstrap.servers": servers, "group.id": "aranyani", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, 0, offset)])
    try:
        while True:
            messages = consumer.consume(MOST, timeout=0.1)
            for message in messages:
                if message.error():
                    raise RuntimeError(message.error().str())
            if messages:
                yield [json.loads(message.value()) for message in messages]
    finally:
        consumer.close()
