"""For pytest: a test that takes `rung_device` runs on every device there is, the simulated GPU
included.

    def test_sum(rung_device):
        assert_same_bits(rung.sum(x, device=rung_device), rung.sum(x))
"""


def pytest_addoption(parser):
    parser.addoption("--rung-devices", metavar="LIST",
                     help="the devices of `rung_device`, comma-separated; default: all there are")


def pytest_generate_tests(metafunc):
    if "rung_device" not in metafunc.fixturenames:
        return
    chosen = metafunc.config.getoption("--rung-devices")
    if chosen is not None:
        names = chosen.split(",")
    else:
        import rung
        names = [one["device"] for one in rung.devices() if one["usable"]]
    metafunc.parametrize("rung_device", names)
