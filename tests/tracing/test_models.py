"""Real models with random weights: names and modules are those of the model, and leaves are what gets a gradient."""

from __future__ import annotations

import os
from textwrap import dedent
from typing import TYPE_CHECKING, cast

import pytest

from sphinx_graphviz_autograd.model import Graph
from tests.tracing.running import Ran, functions, leaves, run

if TYPE_CHECKING:
    import torch

TRANSFORMERS = {
    "bert": """
        from transformers import BertConfig, BertModel

        config = BertConfig(
            vocab_size=30, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        )
        model = BertModel(config)
        out = model(input_ids=torch.tensor([[1, 2, 3]]), attention_mask=torch.ones(1, 3, dtype=torch.long))
        y = out.last_hidden_state.sum() + out.pooler_output.sum()
        """,
    "gpt2": """
        from transformers import GPT2Config, GPT2LMHeadModel

        model = GPT2LMHeadModel(GPT2Config(vocab_size=30, n_positions=8, n_embd=16, n_layer=2, n_head=2))
        tokens = torch.tensor([[1, 2, 3, 4]])
        y = model(input_ids=tokens, labels=tokens).loss
        """,
    "t5": """
        from transformers import T5Config, T5ForConditionalGeneration

        config = T5Config(
            vocab_size=30, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0,
        )
        model = T5ForConditionalGeneration(config)
        y = model(input_ids=torch.tensor([[1, 2, 3]]), labels=torch.tensor([[4, 5]])).loss
        """,
}
"""Models of `transformers`, from small configurations."""

MODELS = {
    "lstm": """
        model = nn.LSTM(3, 4, num_layers=2, batch_first=True)
        o, (h, c) = model(torch.randn(2, 5, 3))
        y = o.sum() + c.sum()
        """,
    "gru": """
        model = nn.GRU(3, 4)
        o, h = model(torch.randn(5, 1, 3))
        y = o.sum()
        """,
    "transformer encoder": """
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
        y = model(torch.randn(1, 4, 8)).sum()
        """,
    "resnet": """
        class Block(nn.Module):
            def __init__(self, n):
                super().__init__()
                self.conv1 = nn.Conv2d(n, n, 3, padding=1, bias=False)
                self.bn1 = nn.BatchNorm2d(n)
                self.conv2 = nn.Conv2d(n, n, 3, padding=1, bias=False)
                self.bn2 = nn.BatchNorm2d(n)

            def forward(self, x):
                h = F.relu(self.bn1(self.conv1(x)))
                return F.relu(self.bn2(self.conv2(h)) + x)

        class ResNet(nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = nn.Conv2d(3, 4, 3, padding=1)
                self.blocks = nn.Sequential(*[Block(4) for _ in range(3)])
                self.head = nn.Linear(4, 2)

            def forward(self, x):
                return self.head(self.blocks(self.stem(x)).mean((2, 3)))

        model = ResNet()
        y = F.cross_entropy(model(torch.randn(2, 3, 8, 8)), torch.tensor([0, 1]))
        """,
    "unet": """
        class UNet(nn.Module):
            def __init__(self):
                super().__init__()
                self.down = nn.ModuleList([nn.Conv2d(1, 2, 3, padding=1), nn.Conv2d(2, 4, 3, padding=1)])
                self.up = nn.ModuleDict({
                    "deep": nn.ConvTranspose2d(4, 2, 2, stride=2),
                    "out": nn.Conv2d(4, 1, 3, padding=1),
                })

            def forward(self, x):
                wide = F.relu(self.down[0](x))
                deep = F.relu(self.down[1](F.max_pool2d(wide, 2)))
                return self.up["out"](torch.cat([wide, self.up["deep"](deep)], 1))

        model = UNet()
        y = model(torch.randn(1, 1, 8, 8)).square().mean()
        """,
    "vae": """
        class VAE(nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = nn.Linear(6, 4)
                self.mu, self.logvar = nn.Linear(4, 2), nn.Linear(4, 2)
                self.decoder = nn.Linear(2, 6)

            def forward(self, x):
                h = torch.tanh(self.encoder(x))
                mu, logvar = self.mu(h), self.logvar(h)
                z = mu + torch.randn_like(mu) * (logvar / 2).exp()
                return self.decoder(z), mu, logvar

        model = VAE()
        x = torch.randn(3, 6)
        back, mu, logvar = model(x)
        kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
        y = F.mse_loss(back, x) + kl
        """,
    "graph network": """
        class Layer(nn.Module):
            def __init__(self):
                super().__init__()
                self.message, self.update = nn.Linear(3, 3), nn.Linear(3, 3)

            def forward(self, nodes, source, target):
                sums = torch.zeros_like(nodes).index_add(0, target, self.message(nodes[source]))
                return torch.relu(self.update(nodes) + sums)

        model = nn.ModuleList([Layer(), Layer()])
        nodes, source, target = torch.randn(4, 3), torch.tensor([0, 1, 2]), torch.tensor([1, 2, 3])
        for layer in model:
            nodes = layer(nodes, source, target)
        y = nodes.sum()
        """,
    "sentences": """
        class Tagger(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(10, 4)
                self.cell = nn.RNNCell(4, 5)
                self.out = nn.Linear(5, 1)

            def forward(self, sentence):
                h = torch.zeros(1, 5)
                for word in sentence:
                    h = self.cell(self.embed(word).unsqueeze(0), h)
                return self.out(h)

        model = Tagger()
        sentences = [torch.tensor([1, 2, 3]), torch.tensor([4]), torch.tensor([5, 6])]
        y = sum(model(sentence).sum() for sentence in sentences)
        """,
    "tree": """
        class TreeNet(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(10, 4)
                self.join = nn.Linear(8, 4)

            def forward(self, tree):
                if isinstance(tree, int):
                    return self.embed(torch.tensor(tree))
                left, right = (self(part) for part in tree)
                return torch.tanh(self.join(torch.cat([left, right])))

        model = TreeNet()
        y = model(((1, 2), (3, (4, 5)))).sum()
        """,
}
"""Models of the kinds that tutorials build."""


def assert_told(ran: Ran, name: str) -> None:
    """Assert that leaves, names and modules of a graph are those of the module called `name`."""
    module = cast("torch.nn.Module", ran.namespace[name])
    assert_leaves_get_gradients(ran, name, module)
    paths = {f"{name}.{path}" if path else name: inner for path, inner in module.named_modules(remove_duplicate=False)}
    graph = ran.graph
    for call in graph.modules:
        if call.kind == "CrossEntropyLoss":  # which T5 makes anew in its forward, so that no name reaches it
            assert call.path == ""
            continue
        assert type(paths[call.path]).__name__ == call.kind
        assert call.parameters == sum(parameter.numel() for parameter in paths[call.path].parameters())
        if call.parent is not None:
            assert call.path.startswith(graph.modules[call.parent].path)
    assert all(fn.place is not None for fn in functions(graph))
    assert Graph.from_json(graph.to_json()) == graph


def assert_leaves_get_gradients(ran: Ran, name: str, module: torch.nn.Module) -> None:
    """Assert that the leaves are the parameters that a backward pass reaches, with all names that the module has."""
    expected: dict[int, list[str]] = {}
    cast("torch.Tensor", ran.namespace["y"]).backward()  # type: ignore[no-untyped-call]  # PyTorch's, without annotations
    for path, parameter in module.named_parameters(remove_duplicate=False):
        if parameter.grad is not None:
            expected.setdefault(id(parameter), []).append(f"{name}.{path}")
    found = [leaf.names for leaf in leaves(ran.graph) if leaf.parameter]
    assert sorted(found) == sorted(tuple(names) for names in expected.values())


@pytest.mark.parametrize("kind", MODELS)
def test_model(kind: str) -> None:
    """Each kind of model is captured with the names, paths and classes of its modules."""
    assert_told(run(MODELS[kind]), "model")


@pytest.mark.parametrize("kind", TRANSFORMERS)
def test_transformers(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """BERT, GPT-2 and T5 are captured with the names, paths and classes of their modules."""
    monkeypatch.setitem(os.environ, "HF_HUB_OFFLINE", "1")
    pytest.importorskip("transformers", reason="needs what the extra `test` installs")

    assert_told(run(TRANSFORMERS[kind]), "model")


def test_output_of_transformers_is_a_nest() -> None:
    """What a model of `transformers` returns is drawn by its fields."""
    pytest.importorskip("transformers", reason="needs what the extra `test` installs")
    graph = run(TRANSFORMERS["bert"], "out").graph

    assert [output.name for output in graph.outputs] == ["out.last_hidden_state", "out.pooler_output"]


def test_tied_embedding_of_gpt2_has_both_names() -> None:
    """The embedding that GPT-2 uses for its output as well is one leaf with both names."""
    pytest.importorskip("transformers", reason="needs what the extra `test` installs")

    assert ("model.transformer.wte.weight", "model.lm_head.weight") in [
        leaf.names for leaf in leaves(run(TRANSFORMERS["gpt2"]).graph)
    ]


def test_recursion_makes_a_tree_of_calls() -> None:
    """A module that calls itself has a call for each node of the tree, inside the call of its parent."""
    calls = [call for call in run(MODELS["tree"]).graph.modules if call.kind == "TreeNet"]

    assert [call.call for call in calls] == list(range(1, 10))
    assert [call.parent is None for call in calls] == [True] + [False] * 8


def test_words_of_a_sentence_are_iterations() -> None:
    """In a network run over sentences of different lengths, each step knows its line, call, iteration and module."""
    graph = run(MODELS["sentences"]).graph
    steps = sorted((fn for fn in functions(graph) if fn.forward == "tanh"), key=lambda fn: fn.sequence or 0)

    assert {fn.place.line for fn in steps if fn.place is not None} == {11}
    assert [(fn.place.call, fn.place.iteration) for fn in steps if fn.place is not None] == [
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 1),
        (3, 1),
        (3, 2),
    ]
    assert {graph.modules[fn.module].path for fn in steps if fn.module is not None} == {"model.cell"}


GAN = dedent("""
    generator = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))
    critic = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    fake = generator(torch.randn(5, 2))
    d_loss = critic(fake.detach()).mean() - critic(torch.randn(5, 3)).mean()
    g_loss = -critic(fake).mean()
    """)


def test_step_of_a_gan() -> None:
    """The critic's loss leads to the critic alone, since the generator's output was detached; the other to both."""
    d_leaves = [leaf.names[0] for leaf in leaves(run(GAN, "d_loss").graph)]
    g_leaves = [leaf.names[0] for leaf in leaves(run(GAN, "g_loss").graph)]

    assert {name.split(".")[0] for name in d_leaves} == {"critic"}
    assert {name.split(".")[0] for name in g_leaves} == {"generator", "critic"}
    assert {output.name for output in run(GAN, "d_loss", "g_loss").graph.outputs} == {"d_loss", "g_loss"}


def test_step_of_maml() -> None:
    """In a step of MAML, what the inner backward made is of second order, and the first weights are the leaves."""
    graph = run(
        """
        model = nn.Linear(3, 1)
        x, t = torch.randn(4, 3), torch.randn(4, 1)
        inner = F.mse_loss(model(x), t)
        grads = torch.autograd.grad(inner, model.parameters(), create_graph=True)
        fast = {name: p - 0.1 * g for (name, p), g in zip(model.named_parameters(), grads)}
        y = F.mse_loss(torch.func.functional_call(model, fast, (x,)), t)
        """
    ).graph

    assert {leaf.names[0] for leaf in leaves(graph)} == {"model.weight", "model.bias"}
    by_order = {order: {fn.forward for fn in functions(graph) if fn.order == order} for order in (1, 2)}
    assert "mse_loss" in by_order[1]
    assert "mse_loss_backward" in by_order[2]
    assert {fn.place.line for fn in functions(graph) if fn.order == 2 and fn.place is not None} == {4}
